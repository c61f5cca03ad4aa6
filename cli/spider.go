package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/luabind"
)

// source is a spider's file and what it is loaded with.
type source struct {
	fsys    fs.FS
	folder  string // of fsys on disk; "" when its files cannot change
	main    string // its file in fsys
	display string // how the folder is called in errors, with its slash
	args    map[string]string
	layers  host.Layers
	outside host.Outside
}

// spiderFlags are the flags of every command that loads a spider.
func spiderFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "a", Aliases: []string{"arg"}, Usage: "spider.args.NAME for the script, as `NAME=VALUE` (repeatable)"},
		&cli.StringSliceFlag{Name: "set", Usage: "a setting, as `NAME=VALUE` (repeatable): download_delay=0.5, lease=90s, download_maxsize=8MB"},
	}
}

// source finds the spider that a command's first argument names.
func (p *program) source(c *cli.Context, file string) (source, error) {
	args, err := pairs("-a", c.StringSlice("a"))
	if err != nil {
		return source{}, err
	}
	sets, err := pairs("--set", c.StringSlice("set"))
	if err != nil {
		return source{}, err
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return source{}, usagef("no spider %s: give the path of a Lua file", file)
	case err != nil:
		return source{}, usagef("spider %s: %w", file, err)
	case info.IsDir():
		return source{}, usagef("%s is a folder: give the path of a Lua file in it", file)
	}
	dir, main := filepath.Split(filepath.Clean(file))
	outside, err := p.outside(c, nil)
	if err != nil {
		return source{}, err
	}
	return source{
		fsys: os.DirFS(cmp.Or(dir, ".")), folder: cmp.Or(dir, "."), main: main, display: filepath.ToSlash(dir), args: args,
		layers: layers(p.Environ, sets), outside: outside,
	}, nil
}

// outside is what a spider may reach: of the environment all variables for a file of this host, and those that are named for spiders that
// others have pushed.
func (p *program) outside(c *cli.Context, named []string) (host.Outside, error) {
	proxy, err := environmentProxy(p.Environ)
	return host.Outside{
		Proxy: proxy,
		Env: func(name string) (string, bool) {
			if named != nil && !slices.Contains(named, name) {
				return "", false
			}
			return p.lookupEnv(name)
		},
		Stdout: p.screen.above(p.Out),
		Spool:  filepath.Join(cmp.Or(c.String("data"), os.TempDir()), "spool"),
	}, err
}

func (s source) String() string { return s.display + s.main }

// host is the same for what runs it.
func (s source) host() host.Source {
	return host.Source{FS: s.fsys, Main: s.main, Display: s.display, Args: s.args, Layers: s.layers, Outside: s.outside}
}

// load compiles the spider and merges its settings.
func (s source) load(l *logs) (*luabind.Spider, engine.Settings, error) {
	return s.host().Load(l.voice())
}
