package luabind

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/engine/export"
)

// declaration is one entry of spider.items: what items of a kind hold.
type declaration struct {
	export.Schema
	defaults map[string]lua.LValue // strings, numbers, booleans
	index    map[string]int        // place of a field
}

// maxFields is how many fields a kind of items may have: they become columns.
const maxFields = 500

const maxKinds = 100

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// declarationsOf reads spider.items.
func declarationsOf(t *lua.LTable) (map[string]*declaration, error) {
	value := t.RawGetString("items")
	kinds, ok := value.(*lua.LTable)
	if !ok {
		if value == lua.LNil {
			return nil, nil
		}
		return nil, fmt.Errorf("spider.items is a %s; it must be a table of kinds: items = { article = { title = \"string!\" } }", value.Type())
	}
	all := map[string]*declaration{}
	for k, fields := kinds.Next(lua.LNil); k != lua.LNil; k, fields = kinds.Next(k) {
		name, isName := k.(lua.LString)
		if !isName || !fieldName.MatchString(string(name)) {
			return nil, fmt.Errorf("spider.items has the key %s; kinds of items have names of letters, digits and _", k)
		}
		if len(all) == maxKinds {
			return nil, fmt.Errorf("spider.items declares more than %d kinds", maxKinds)
		}
		d, err := newDeclaration(string(name), fields)
		if err != nil {
			return nil, err
		}
		all[string(name)] = d
	}
	return all, nil
}

func newDeclaration(kind string, lv lua.LValue) (*declaration, error) {
	fields, ok := lv.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("spider.items.%s is a %s; it must be a table of fields: %s = { title = \"string!\" }", kind, lv.Type(), kind)
	}
	d := &declaration{Schema: export.Schema{Name: kind}, defaults: map[string]lua.LValue{}, index: map[string]int{}}
	for k, spec := fields.Next(lua.LNil); k != lua.LNil; k, spec = fields.Next(k) {
		name, isName := k.(lua.LString)
		if !isName || !fieldName.MatchString(string(name)) {
			return nil, fmt.Errorf("spider.items.%s has the key %s; fields have names of letters, digits and _, at most 63", kind, k)
		}
		if len(d.Fields) == maxFields {
			return nil, fmt.Errorf("spider.items.%s declares more than %d fields", kind, maxFields)
		}
		if err := d.add(string(name), spec); err != nil {
			return nil, fmt.Errorf("spider.items.%s.%s: %w", kind, name, err)
		}
	}
	if len(d.Fields) == 0 {
		return nil, fmt.Errorf("spider.items.%s declares %d fields; it must have 1 to %d", kind, len(d.Fields), maxFields)
	}
	return d, nil
}

// same reports whether two declarations have the same fields, in whatever order.
func (d *declaration) same(other *declaration) bool {
	return len(d.Fields) == len(other.Fields) && !slices.ContainsFunc(d.Fields, func(f export.Field) bool {
		i, ok := other.index[f.Name]
		return !ok || other.Fields[i] != f
	})
}

// add reads a field: "string", "string!" (required), "string! key", or { type = "string", required = true, key = true, default = "" }.
func (d *declaration) add(name string, lv lua.LValue) error {
	f := export.Field{Name: name}
	def := lua.LValue(lua.LNil)
	switch spec := lv.(type) {
	case lua.LString:
		words := strings.Fields(string(spec))
		if len(words) == 0 || len(words) > 2 || len(words) == 2 && words[1] != "key" {
			return fmt.Errorf("%q is no declaration; write a type, ! if it is required, and key if it identifies the item: \"string! key\"", string(spec))
		}
		f.Required, f.Key = strings.HasSuffix(words[0], "!"), len(words) == 2
		f.Type = export.Type(strings.TrimSuffix(words[0], "!"))
	case *lua.LTable:
		for k, value := spec.Next(lua.LNil); k != lua.LNil; k, value = spec.Next(k) {
			switch k.String() {
			case "type":
				f.Type = export.Type(value.String())
			case "required":
				f.Required = lua.LVAsBool(value)
			case "key":
				f.Key = lua.LVAsBool(value)
			case "default":
				def = value
			default:
				return fmt.Errorf("unknown key %q; a declaration has type, required, key and default", k.String())
			}
		}
	default:
		return fmt.Errorf("it is a %s; write its type, as in \"string!\"", lv.Type())
	}
	types := []string{string(export.String), string(export.Number), string(export.Integer), string(export.Boolean), string(export.Time), string(export.JSON)}
	if !slices.Contains(types, string(f.Type)) {
		if near := engine.Nearest(string(f.Type), types); near != "" {
			return fmt.Errorf("unknown type %q; did you mean %q?", f.Type, near)
		}
		return fmt.Errorf("unknown type %q; the types are %s", f.Type, strings.Join(types, ", "))
	}
	if def != lua.LNil {
		value, err := coerce(f.Type, def)
		if err != nil {
			return fmt.Errorf("default: %w", err)
		}
		switch value.(type) {
		case lua.LString, lua.LNumber, lua.LBool:
		default: // all VMs have the same defaults
			return fmt.Errorf("default: it is a %s; a default is a string, a number, true or false: set others in process_item", value.Type())
		}
		d.defaults[name] = value
	}
	f.Required = f.Required || f.Key
	d.index[name] = len(d.Fields)
	d.Fields = append(d.Fields, f)
	return nil
}
