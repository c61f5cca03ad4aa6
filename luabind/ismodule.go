package luabind

import (
	"io/fs"
	"path"

	lua "github.com/yuin/gopher-lua"
)

// IsModule reports whether a Lua file loads and gives a table without a name: something for a spider to require, and no spider.
func IsModule(fsys fs.FS, main string) bool {
	g := newGeneration(fsys, path.Clean(main), "", Options{})
	if g.readMain() != nil {
		return false
	}
	v, err := g.newVM()
	if err != nil {
		return false
	}
	defer v.close()
	return v.spider.RawGetString("name") == lua.LNil
}
