package luabind

import (
	"strings"
	"testing"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

func benchmarkSpider(b *testing.B, parse string) (*Spider, *engine.Response) {
	b.Helper()
	s, err := Load(filesystem(map[string]string{"a.lua": "local spider = { name = 'a' }\nfunction spider.parse(response) " + parse + " end\nreturn spider"}), "a.lua", "", Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s, &engine.Response{URL: "http://x.test/", Request: &scheduler.Request{URL: "http://x.test/"}}
}

// BenchmarkParse is the cost of a call by itself, of Lua's instructions, and of what a page emits.
func BenchmarkParse(b *testing.B) {
	for name, parse := range map[string]string{
		"empty":        ``,
		"loop 1000":    `local n = 0 for i = 1, 1000 do n = n + i % 7 end`,
		"item":         `emit { title = "a title", url = "http://x.test/", n = 5 }`,
		"100 requests": `local list = {} for i = 1, 100 do list[i] = request { url = "http://x.test/" .. i, callback = "parse" } end emit(list)`,
		"pcall":        `pcall(function() end)`,
		"append 1000":  `local t = {} for i = 1, 1000 do t[#t + 1] = i end`,
		"strings 100":  `local s = "" for i = 1, 100 do s = s .. "word " .. i end s = s:upper():gsub("WORD", "%0s")`,
	} {
		b.Run(name, func(b *testing.B) {
			s, page := benchmarkSpider(b, parse)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Parse(b.Context(), page); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewVM is what a VM costs; bytes are what it keeps.
func BenchmarkNewVM(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newVM(nil, nil).close()
	}
}

func BenchmarkCompile(b *testing.B) {
	source := []byte(strings.Repeat("local function f(x) local y = x and x.a or 5 if y then return y end end\n", 100))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compile("a.lua", source); err != nil {
			b.Fatal(err)
		}
	}
}
