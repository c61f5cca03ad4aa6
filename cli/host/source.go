package host

import (
	"fmt"
	"io/fs"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/scheduler"
)

// Source is where a spider comes from and what it is loaded with.
type Source struct {
	FS       fs.FS
	Main     string              // the spider's file in FS
	Display  string              // how errors name the folder, with its slash
	Revision *scheduler.Revision // in place of FS and Main
	Args     map[string]string
	Layers   Layers
	Outside  Outside
}

func (s Source) String() string {
	if s.Revision != nil {
		return s.Revision.Main
	}
	return s.Display + s.Main
}

// Load compiles the spider and merges its settings. A spider that sets callback_memory or memory_limit is compiled twice: the limit is
// to hold from its first line on. Errors are *MistakeError.
func (s Source) Load(v Voice) (*luabind.Spider, engine.Settings, error) {
	defaults := engine.DefaultSettings()
	options := luabind.Options{
		Args: s.Args, Logger: v.Logger, Memory: defaults.CallbackMemory, MemoryLimit: defaults.MemoryLimit,
		Env: s.Outside.Env, Databases: s.Outside.Databases,
	}
	for {
		spider, err := s.compile(options)
		if err != nil {
			return nil, engine.Settings{}, mistake(err)
		}
		settings, err := s.Layers.Merge(s.String(), spider.Settings())
		if err == nil {
			err = v.SetLevel(settings.LogLevel)
		}
		if err == nil && settings.CallbackMemory == options.Memory && settings.MemoryLimit == options.MemoryLimit {
			return spider, settings, nil
		}
		spider.Close()
		if err != nil {
			return nil, settings, err
		}
		options.Memory, options.MemoryLimit = settings.CallbackMemory, settings.MemoryLimit
	}
}

func (s Source) compile(o luabind.Options) (*luabind.Spider, error) {
	if s.Revision == nil {
		return luabind.Load(s.FS, s.Main, s.Display, o)
	}
	spider, err := luabind.LoadRevision(s.Revision, o)
	if err == nil && spider.Name() != s.Revision.Spider {
		spider.Close()
		return nil, fmt.Errorf("%s: it is spider %q and was pushed as %q", s.Revision.Main, spider.Name(), s.Revision.Spider)
	}
	return spider, err
}
