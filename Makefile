# What CI runs is .ci/run; these are its parts, for the desk.
.PHONY: build test race lint soak bench

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

build:
	go build -o luacrawl .

test:
	go test ./...

race:
	go test -race ./...

lint:
	test -z "$$(gofmt -l .)"
	go vet ./...
	go run $(STATICCHECK) ./...
	go mod tidy -diff

# The long forms: more kills, more pages, 200 saves (on real pages, if LUACRAWL_SITES has them). One package at a time: some measure.
soak:
	LUACRAWL_SOAK=1 CI=true go test -race -count=1 -p 1 -timeout 60m ./...
	LUACRAWL_SOAK=1 CI=true go test -v -count=1 -p 1 -run 'TestFleetIsPolite|TestHostileScripts' ./cli ./luabind # these measure time, which -race would spoil

bench:
	go test -run '^$$' -bench . -benchmem ./...
