// Package luabind runs spiders that are written in Lua.
package luabind

import (
	"errors"
	"io/fs"
	"log/slog"

	"luacrawl/engine"
)

// Options are what a spider is loaded with.
type Options struct {
	Args   map[string]string // spider.args
	Logger *slog.Logger      // of the log function
	Memory int64             // callback_memory, bytes
}

// Load compiles a spider and the modules that it requires from fsys, runs it once in a throwaway VM and checks it.
// main is the spider's file in fsys; display is how errors name the folder ("spiders/"). Errors are *engine.ScriptError.
func Load(fsys fs.FS, main, display string, o Options) (*Spider, error) {
	return nil, errors.New("stub")
}

// Spider is a loaded spider.
type Spider struct{ engine.Spider }

// Close ends its VMs.
func (s *Spider) Close() {}
