package luabind

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine/export"
	itemfiles "luacrawl/engine/files"
)

// redisPipeline is the pipeline that is Redis itself.
const redisPipeline = "redis"

// filesPipeline is the pipeline in which items wait for their files.
const filesPipeline = "files"

// sinkNames are the built-in pipelines beside Redis.
var sinkNames = []string{"feed", "sql"}

// What spider.pipelines may hold, in all.
const (
	maxPipelines = 50
	maxOptions   = 10_000 // values
)

// pipelineStep is one of a spider's pipelines: Redis, a sink, or a Lua module.
type pipelineStep struct {
	name    string
	order   float64
	sink    int    // among the sinks; -1 when it is none
	module  string // "" when it is none
	stream  int64  // Redis keeps a stream of so many items; 0 when it keeps a list, or it is not Redis
	options map[string]any
	files   *itemfiles.Options // nil when it is not the pipeline of files
}

// pipelinesOf reads spider.pipelines, in their order. Without it there is Redis alone.
func pipelinesOf(t *lua.LTable) ([]pipelineStep, error) {
	value := t.RawGetString("pipelines")
	list, ok := value.(*lua.LTable)
	if !ok {
		if value == lua.LNil {
			return []pipelineStep{{name: redisPipeline, sink: -1}}, nil
		}
		return nil, fmt.Errorf("spider.pipelines is a %s; it must be a list: pipelines = { { \"lib.mysql\", order = 300 }, { \"redis\", order = 400 } }", value.Type())
	}
	var steps []pipelineStep
	left := maxOptions
	for k, entry := list.Next(lua.LNil); k != lua.LNil; k, entry = list.Next(k) {
		if k != lua.LNumber(len(steps)+1) {
			return nil, fmt.Errorf("spider.pipelines has the key %s; it is a list", k)
		}
		if len(steps) == maxPipelines {
			return nil, fmt.Errorf("spider.pipelines has more than %d pipelines", maxPipelines)
		}
		s, err := newStep(entry, &left)
		if err != nil {
			return nil, fmt.Errorf("spider.pipelines[%d]: %w", len(steps)+1, err)
		}
		steps = append(steps, s)
	}
	return arranged(steps)
}

func newStep(lv lua.LValue, left *int) (pipelineStep, error) {
	t, ok := lv.(*lua.LTable)
	if !ok {
		return pipelineStep{}, fmt.Errorf("it is a %s; write { \"redis\", order = 400 }", lv.Type())
	}
	name, ok := t.RawGetInt(1).(lua.LString)
	if !ok {
		return pipelineStep{}, fmt.Errorf("it has no name; write { \"redis\", order = 400 }, with %s, %s, %s, or a module of the spider's folder", redisPipeline, filesPipeline, strings.Join(sinkNames, ", "))
	}
	s := pipelineStep{name: string(name), sink: -1, options: map[string]any{}}
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		switch key := k.(type) {
		case lua.LNumber:
			if key != 1 {
				return s, fmt.Errorf("it has more than one name")
			}
		case lua.LString:
			if key == "order" {
				n, ok := value.(lua.LNumber)
				if !ok {
					return s, fmt.Errorf("order is a %s; it is a number, as in Scrapy's ITEM_PIPELINES", value.Type())
				}
				s.order = float64(n)
				continue
			}
			option, err := optionValue(value, 0, left)
			if err != nil {
				return s, fmt.Errorf("%s: %w", key, err)
			}
			s.options[string(key)] = option
		}
	}
	if t.RawGetString("order") == lua.LNil {
		return s, fmt.Errorf("%s has no order; items go through the pipelines from the lowest to the highest", s.name)
	}
	switch {
	case s.name == filesPipeline:
		o, err := itemfiles.ParseOptions(s.options)
		if err != nil {
			return s, err
		}
		s.files = &o
	case s.name != redisPipeline && !slices.Contains(sinkNames, s.name):
		s.module = s.name
	}
	if len(s.options) > 0 && s.module != "" {
		return s, fmt.Errorf("%s takes no options but order", s.name)
	}
	if s.name == redisPipeline {
		var err error
		if s.stream, err = streamOf(s.options); err != nil {
			return s, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return s, nil
}

// maxStream is the largest maxlen of a stream.
const maxStream = 1e12

// streamOf reads the options of Redis: the length of a stream, 0 for a list.
func streamOf(options map[string]any) (int64, error) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if name != "type" && name != "maxlen" {
			return 0, fmt.Errorf("unknown option %q; known are order, type and maxlen (the key is the setting items_key)", name)
		}
	}
	length, given := options["maxlen"]
	switch kind := cmp.Or(options["type"], any("list")); {
	case kind != "list" && kind != "stream":
		return 0, fmt.Errorf("type is \"list\" or \"stream\", not %q", fmt.Sprint(kind))
	case kind == "list" && given:
		return 0, errors.New("maxlen is for type = \"stream\"; a list keeps all items")
	case kind == "list":
		return 0, nil
	case !given:
		return 0, errors.New("a stream needs a maxlen, as in { \"redis\", order = 400, type = \"stream\", maxlen = 100000 }: older items are thrown away, read or not")
	}
	n, ok := length.(float64)
	if !ok || n < 1 || n > maxStream || n != math.Trunc(n) {
		return 0, fmt.Errorf("maxlen is a whole number of items, at least 1, not %v", length)
	}
	return int64(n), nil
}

// optionValue is an option of a sink: numbers, strings, booleans, lists and tables of them. left is how many more there may be.
func optionValue(lv lua.LValue, depth int, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, fmt.Errorf("the pipelines have more than %d options in all", maxOptions)
	}
	switch value := lv.(type) {
	case lua.LNumber:
		return float64(value), nil
	case lua.LString:
		return string(value), nil
	case lua.LBool:
		return bool(value), nil
	case *lua.LTable:
		if depth == 4 {
			return nil, errors.New("it is nested too deep")
		}
		return optionTable(value, depth, left)
	}
	return nil, fmt.Errorf("it is a %s; options are numbers, strings, true, false, lists and tables", lv.Type())
}

func optionTable(t *lua.LTable, depth int, left *int) (any, error) {
	list, table := []any{}, map[string]any{}
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		option, err := optionValue(value, depth+1, left)
		if err != nil {
			return nil, err
		}
		if name, ok := k.(lua.LString); ok {
			table[string(name)] = option
		} else {
			list = append(list, option)
		}
	}
	switch {
	case len(table) == 0:
		return list, nil
	case len(list) == 0:
		return table, nil
	}
	return nil, errors.New("it is half a list and half a table")
}

// arranged puts pipelines into their order and numbers the sinks.
func arranged(steps []pipelineStep) ([]pipelineStep, error) {
	slices.SortStableFunc(steps, func(a, b pipelineStep) int { return cmp.Compare(a.order, b.order) })
	sinks := 0
	for i := range steps {
		if i > 0 && steps[i].order == steps[i-1].order {
			return nil, fmt.Errorf("spider.pipelines: %s and %s have the same order %v; which is first?", steps[i-1].name, steps[i].name, steps[i].order)
		}
		if slices.ContainsFunc(steps[:i], func(s pipelineStep) bool {
			return s.name == steps[i].name && s.sink < 0 && s.files == nil && slices.Index(sinkNames, s.name) < 0
		}) {
			return nil, fmt.Errorf("spider.pipelines names %s twice", steps[i].name)
		}
		if steps[i].files != nil && slices.ContainsFunc(steps[:i], func(s pipelineStep) bool { return s.module == "" && s.files == nil }) {
			return nil, fmt.Errorf("spider.pipelines: files (order %v) must come before %s and all else that keeps items: they wait there for their files", steps[i].order, steps[i-1].name)
		}
		if steps[i].module == "" && steps[i].name != redisPipeline && steps[i].files == nil {
			steps[i].sink = sinks
			sinks++
		}
	}
	return steps, nil
}

// Sinks are the spider's pipelines beside Redis and its own modules, in their order.
func (s *Spider) Sinks() []export.SinkConfig { return s.current.Load().sinks() }

func (d *definition) sinks() []export.SinkConfig {
	var all []export.SinkConfig
	for _, s := range d.steps {
		if s.sink >= 0 {
			all = append(all, export.SinkConfig{Name: s.name, Order: s.order, Options: s.options})
		}
	}
	return all
}

// Files are the spider's pipelines of files, by their order.
func (s *Spider) Files() map[float64]itemfiles.Options {
	all := map[float64]itemfiles.Options{}
	for _, step := range s.current.Load().steps {
		if step.files != nil {
			all[step.order] = *step.files
		}
	}
	return all
}

// StoresItems reports whether Redis is one of the spider's pipelines; it is when it names none.
func (s *Spider) StoresItems() bool { return s.current.Load().stores() }

func (d *definition) stores() bool {
	return slices.ContainsFunc(d.steps, func(s pipelineStep) bool { return s.name == redisPipeline })
}

// ItemStream is how many items Redis keeps in a stream; 0 when it keeps a list.
func (s *Spider) ItemStream() int64 { return s.current.Load().stream() }

func (d *definition) stream() int64 {
	for _, s := range d.steps {
		if s.stream > 0 {
			return s.stream
		}
	}
	return 0
}

// Schemas are the spider's declarations of items, by kind.
func (s *Spider) Schemas() map[string]export.Schema {
	all := map[string]export.Schema{}
	for name, d := range s.current.Load().items {
		all[name] = d.Schema
	}
	return all
}

// plain reports whether items go to Redis as they are emitted, and nowhere else.
func (d *definition) plain() bool { return len(d.steps) == 1 && d.stores() }
