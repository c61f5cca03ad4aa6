module luacrawl

go 1.26.0

require (
	github.com/andybalholm/cascadia v1.3.5
	github.com/go-json-experiment/json v1.27.2
	github.com/google/go-cmp v0.7.0
	github.com/hashicorp/golang-lru/v2 v2.0.7
	github.com/nlnwa/whatwg-url v0.6.2
	github.com/wlynxg/chardet v1.0.5
	github.com/yuin/gopher-lua v1.1.2
	golang.org/x/net v0.62.0
	golang.org/x/sync v0.25.0
	golang.org/x/text v0.44.0
)

require github.com/bits-and-blooms/bitset v1.20.0 // indirect
