// Package spiders holds the Lua spiders that ship with luacrawl, so that the binary can run them without their files.
package spiders

import "embed"

// Files are the spiders, as they lie in this folder.
//
//go:embed *.lua
var Files embed.FS
