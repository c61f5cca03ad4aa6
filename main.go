// Command luacrawl is a distributed crawler: a Go engine whose spiders are Lua files.
package main

import (
	"os"

	"luacrawl/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, cli.Process()))
}
