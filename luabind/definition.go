package luabind

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// definition is what a spider's table says.
type definition struct {
	name      string
	domains   []string
	startURLs []string
	settings  map[string]any
	items     map[string]*declaration
	steps     []pipelineStep // pipelines
	functions map[string]bool
	tasks     []scheduler.Task
}

var spiderName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// hooks are functions of a spider that are no callbacks.
var hooks = []string{"make_request_from_data", "on_finished", "process_item", "seeds"}

// fields are the keys of a spider's table that are no functions.
var fields = []string{"allowed_domains", "args", "items", "name", "pipelines", "settings", "start_urls"}

// define checks a spider's table. Its errors say what to do.
func define(t *lua.LTable) (*definition, error) {
	d := &definition{functions: map[string]bool{}}
	if err := d.keys(t); err != nil {
		return nil, err
	}
	var err error
	if d.name, err = nameOf(t); err != nil {
		return nil, err
	}
	if d.domains, err = domainsOf(t); err != nil {
		return nil, err
	}
	if d.startURLs, err = stringList(t, "start_urls"); err != nil {
		return nil, err
	}
	if d.settings, err = settingsOf(t); err != nil {
		return nil, err
	}
	if d.items, err = declarationsOf(t); err != nil {
		return nil, err
	}
	if d.steps, err = pipelinesOf(t); err != nil {
		return nil, err
	}
	return d, d.check(t)
}

func (d *definition) check(t *lua.LTable) error {
	if args := t.RawGetString("args"); args.Type() != lua.LTTable && args != lua.LNil {
		return fmt.Errorf("spider.args is a %s; it must be a table of default arguments, or left out", args.Type())
	}
	switch {
	case d.functions["make_request_from_data"]: // it says what is called, or emits all there is
	case len(d.startURLs) > 0 && !d.functions["parse"]:
		return fmt.Errorf("the spider has start_urls and no function parse; define function spider.parse(response)")
	case len(d.callbacks()) == 0:
		return fmt.Errorf("the spider has no function parse, nor any other that gets responses; define function spider.parse(response)")
	}
	return nil
}

// keys takes in the functions and refuses what is neither a function nor a known field.
func (d *definition) keys(t *lua.LTable) error {
	var err error
	t.ForEach(func(k, value lua.LValue) {
		name, ok := k.(lua.LString)
		_, isFunction := value.(*lua.LFunction)
		switch {
		case err != nil:
		case !ok:
			err = fmt.Errorf("the spider's table has a %s as a key (%s); its keys are names", k.Type(), k)
		case isFunction && slices.Contains(fields, string(name)):
			err = fmt.Errorf("spider.%s is a function; it must be a %s", name, fieldType(string(name)))
		case isFunction:
			d.functions[string(name)] = true
		case slices.Contains(hooks, string(name)):
			err = fmt.Errorf("spider.%s is a %s; it must be a function", name, value.Type())
		case !slices.Contains(fields, string(name)):
			err = unknownField(string(name))
		}
	})
	return err
}

func fieldType(name string) string {
	if name == "name" {
		return "string"
	}
	return "table"
}

func unknownField(name string) error {
	known := slices.Concat(fields, hooks, []string{"parse"})
	if s := engine.Nearest(name, known); s != "" {
		return fmt.Errorf("unknown field %q in the spider's table; did you mean %q?", name, s)
	}
	return fmt.Errorf("unknown field %q in the spider's table; it has %s and functions; keep data of your own in a local variable", name, strings.Join(fields, ", "))
}

// domainsOf reads allowed_domains as hosts of URLs are written: lower case, IDNA.
func domainsOf(t *lua.LTable) ([]string, error) {
	domains, err := stringList(t, "allowed_domains")
	if err != nil {
		return nil, err
	}
	for i, domain := range domains {
		u, bad := weburl.Parse("http://" + domain + "/")
		if bad != nil || weburl.Hostname(u) != strings.TrimSuffix(strings.TrimPrefix(u, "http://"), "/") {
			return nil, fmt.Errorf("spider.allowed_domains[%d] is %q; it must be a domain without scheme, port or path, as in \"news.example\"", i+1, domain)
		}
		domains[i] = weburl.Hostname(u)
	}
	return domains, nil
}

func nameOf(t *lua.LTable) (string, error) {
	switch name := t.RawGetString("name").(type) {
	case lua.LString:
		if !spiderName.MatchString(string(name)) {
			return "", fmt.Errorf("spider.name %q must be 1 to 64 of the characters A-Z a-z 0-9 _ . -", string(name))
		}
		return string(name), nil
	case *lua.LNilType:
		return "", fmt.Errorf("the spider has no name; give it one: name = \"news\" (its keys in Redis begin with it)")
	default:
		return "", fmt.Errorf("spider.name is a %s; it must be a string", name.Type())
	}
}

// stringList reads a field that is a list of strings, or absent.
func stringList(t *lua.LTable, field string) ([]string, error) {
	value := t.RawGetString(field)
	if value == lua.LNil {
		return nil, nil
	}
	list, ok := value.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("spider.%s is a %s; it must be a list of strings: %s = { \"...\" }", field, value.Type(), field)
	}
	var out []string
	var err error
	list.ForEach(func(k, value lua.LValue) {
		s, ok := value.(lua.LString)
		if !ok && err == nil {
			err = fmt.Errorf("spider.%s[%s] is a %s; it must be a string", field, k, value.Type())
		}
		if k != lua.LNumber(len(out)+1) && err == nil {
			err = fmt.Errorf("spider.%s has the key %s; it must be a list without gaps", field, k)
		}
		out = append(out, string(s))
	})
	return out, err
}

// settingsOf reads spider.settings: numbers, strings, booleans, lists of them, and tables of names and strings.
func settingsOf(t *lua.LTable) (map[string]any, error) {
	value := t.RawGetString("settings")
	table, ok := value.(*lua.LTable)
	if !ok {
		if value == lua.LNil {
			return map[string]any{}, nil
		}
		return nil, fmt.Errorf("spider.settings is a %s; it must be a table of names and values", value.Type())
	}
	out := map[string]any{}
	var err error
	table.ForEach(func(k, value lua.LValue) {
		name, ok := k.(lua.LString)
		setting, known := settingValue(value)
		switch {
		case !ok && err == nil:
			err = fmt.Errorf("spider.settings has a %s as a key (%s); its keys are names of settings", k.Type(), k)
		case !known && err == nil:
			err = fmt.Errorf("spider.settings.%s is a %s; a setting is a number, a string, true or false, a list of them, or a table of names and strings", k, value.Type())
		}
		out[string(name)] = setting
	})
	return out, err
}

func settingValue(lv lua.LValue) (any, bool) {
	switch lv := lv.(type) {
	case lua.LNumber:
		return float64(lv), true
	case lua.LString:
		return string(lv), true
	case lua.LBool:
		return bool(lv), true
	case *lua.LTable:
		if isEmpty(lv) {
			return []any{}, true
		}
		if lv.Len() == 0 {
			return namedValues(lv)
		}
		list := []any{}
		for i := 1; i <= lv.Len(); i++ {
			value, ok := settingValue(lv.RawGetInt(i))
			if nested := lv.RawGetInt(i).Type() == lua.LTTable; !ok || nested {
				return nil, false
			}
			list = append(list, value)
		}
		return list, true
	}
	return nil, false
}

// namedValues is a setting that is a table of names and strings, or of names and tables of names and plain values.
func namedValues(t *lua.LTable) (any, bool) {
	values, right := map[string]any{}, true
	t.ForEach(func(k, value lua.LValue) {
		name, isName := k.(lua.LString)
		text, isText := value.(lua.LString)
		values[string(name)] = string(text)
		if inner, isTable := value.(*lua.LTable); isTable {
			values[string(name)], isText = plainValues(inner)
		}
		right = right && isName && isText
	})
	return values, right
}

func plainValues(t *lua.LTable) (map[string]any, bool) {
	values, right := map[string]any{}, true
	t.ForEach(func(k, value lua.LValue) {
		name, isName := k.(lua.LString)
		plain, known := settingValue(value)
		right = right && isName && known && value.Type() != lua.LTTable
		values[string(name)] = plain
	})
	return values, right
}

// callbacks are the spider's functions that a request may name.
func (d *definition) callbacks() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.functions)), func(n string) bool { return slices.Contains(hooks, n) })
}

func (d *definition) isCallback(name string) bool {
	return d.functions[name] && !slices.Contains(hooks, name)
}
