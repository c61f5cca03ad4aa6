package luabind

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// Finding is one thing that is wrong with a spider.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0 when it is in no one line
	Kind    string `json:"kind"` // one of the Kind constants
	Message string `json:"message"`
}

// Kinds of findings.
const (
	KindLoad     = "load"     // it does not compile, or does not run to its end
	KindSpider   = "spider"   // a field of the spider's table is wrong, missing or unknown
	KindSetting  = "setting"  // a setting is unknown or has a wrong value
	KindCallback = "callback" // a request names a function that the spider has not
	KindGlobal   = "global"   // a name that nothing defines
)

func (f Finding) String() string {
	return (&engine.ScriptError{File: f.File, Line: f.Line, Message: f.Message}).Error()
}

// Checked is what Check has found. A spider without findings has a name and a revision.
type Checked struct {
	Name, Revision string
	Findings       []Finding // by file and line
}

// Check does what Load does, and goes on after a mistake as far as it can: it compiles and dry-runs the spider, and looks through it and
// the modules that it requires for what would fail only later. main, display and o are as for Load.
func Check(fsys fs.FS, main, display string, o Options) Checked {
	c := &check{gen: newGeneration(fsys, path.Clean(main), display, o), table: places{}}
	defer c.close()
	c.load()
	c.lint()
	c.spider()
	slices.SortStableFunc(c.found, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return Checked{c.gen.name, scheduler.ShortRevision(c.gen.hash()), slices.Compact(c.found)}
}

// check is one Check at work.
type check struct {
	gen   *generation
	vm    *vm    // with the spider in it; nil when it does not load
	table places // where the main file sets fields of the spider
	found []Finding
}

func (c *check) close() {
	if c.vm != nil {
		c.vm.close()
	}
}

func (c *check) add(file string, line int, kind, message string) {
	c.found = append(c.found, Finding{file, line, kind, message})
}

// load compiles and runs the files, as far as they go.
func (c *check) load() {
	err := c.gen.readMain()
	if err == nil {
		c.vm, err = c.gen.newVM()
	}
	if err == nil {
		err = c.ready()
	}
	if err == nil {
		return
	}
	main := c.gen.display + c.gen.mainPath
	var e *engine.ScriptError
	if errors.As(err, &e) {
		c.add(cmp.Or(e.File, main), e.Line, KindLoad, e.Message)
		return
	}
	c.add(main, 0, KindLoad, err.Error())
}

// ready loads the modules of the pipelines. What is wrong with the spider's table, spider says.
func (c *check) ready() error {
	d, err := define(c.vm.spider)
	if err != nil {
		return nil
	}
	c.gen.definition = *d
	return c.vm.ready()
}

// lint looks through the files that compile.
func (c *check) lint() {
	l := newLinter(c)
	for _, s := range c.gen.sources() {
		l.file(c.gen.display+s.path, s.text, s == c.gen.main)
	}
	l.finish()
}

// spider checks the table that the main file returned, and says where a field was set.
func (c *check) spider() {
	if c.vm == nil {
		return
	}
	main, t := c.gen.display+c.gen.main.path, c.vm.spider
	unknown := map[string]bool{}
	for name, value := range named(t) {
		_, isFunction := value.(*lua.LFunction)
		if !isFunction && !slices.Contains(fields, name) && !slices.Contains(hooks, name) {
			unknown[unknownField(name).Error()] = true
			c.add(main, c.table[name], KindSpider, unknownField(name).Error())
		}
	}
	if settings, ok := t.RawGetString("settings").(*lua.LTable); ok {
		c.settings(main, settings)
	}
	d, err := define(t)
	switch {
	case err == nil:
		c.gen.definition = *d
	case !unknown[err.Error()]:
		c.add(main, c.table.of(err.Error()), KindSpider, err.Error())
	}
}

func (c *check) settings(main string, t *lua.LTable) {
	for name, value := range named(t) {
		setting, ok := settingValue(value)
		if !ok {
			continue // define says it
		}
		if err := engine.CheckSetting(name, setting); err != nil {
			c.add(main, c.table["settings."+name], KindSetting, err.Error())
		}
	}
}

// named are the fields of a table that have names.
func named(t *lua.LTable) map[string]lua.LValue {
	m := map[string]lua.LValue{}
	t.ForEach(func(k, value lua.LValue) {
		if name, ok := k.(lua.LString); ok {
			m[string(name)] = value
		}
	})
	return m
}

// places are the lines on which fields of the spider's table are set: "name", "settings.lease".
type places map[string]int

// of is the line of the field that a message is about, 0 when it cannot be told.
func (p places) of(message string) int {
	for field, line := range p {
		rest, ok := strings.CutPrefix(message, "spider."+field)
		if ok && strings.IndexAny(rest, " [.:") == 0 {
			return line
		}
	}
	return 0
}
