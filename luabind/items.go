package luabind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// openItems makes the global items: a function a kind, which makes an item of that kind: emit(items.article { title = "x" }).
func (v *vm) openItems() {
	if len(v.gen.items) == 0 {
		return
	}
	v.kinds, v.metas = map[*lua.LTable]*declaration{}, map[*declaration]*lua.LTable{}
	t := v.L.NewTable()
	for name, d := range v.gen.items {
		meta := protected("item", nil)
		v.kinds[meta], v.metas[d] = d, meta
		t.RawSetString(name, v.L.NewFunction(func(L *lua.LState) int { return v.newItem(L, d) }))
	}
	t.Metatable = protected("items", map[string]lua.LValue{"__index": v.L.NewFunction(v.unknownKind)})
	v.L.SetGlobal("items", t)
}

func (v *vm) unknownKind(L *lua.LState) int {
	name, known := L.CheckString(2), slices.Sorted(maps.Keys(v.gen.items))
	if near := engine.Nearest(name, known); near != "" {
		L.RaiseError("items.%s: spider.items declares no such kind; did you mean %q?", name, near)
	}
	L.RaiseError("items.%s: spider.items declares no such kind; it has %s", name, strings.Join(known, ", "))
	return 0
}

// newItem is items.KIND{...}. A field that is not declared, or of another type, raises where it is written.
func (v *vm) newItem(L *lua.LState, d *declaration) int {
	t := L.CheckTable(1)
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		coerced, err := d.field(k, value)
		if err != nil {
			L.RaiseError("%s", err)
		}
		if coerced != value {
			t.RawSet(k, coerced)
		}
	}
	t.Metatable = v.metas[d]
	L.Push(t)
	return 1
}

// field checks one field and gives its value in the declared type.
func (d *declaration) field(k, value lua.LValue) (lua.LValue, error) {
	name, _ := k.(lua.LString)
	i, ok := d.index[string(name)]
	if !ok {
		if near := engine.Nearest(k.String(), slices.Sorted(maps.Keys(d.index))); near != "" {
			return nil, fmt.Errorf("item %s has no field %q; did you mean %q?", d.Name, k.String(), near)
		}
		return nil, fmt.Errorf("item %s has no field %q; declare it in spider.items.%s", d.Name, k.String(), d.Name)
	}
	if value == lua.LNil || value == jsonNull {
		return value, nil
	}
	coerced, err := coerce(d.Fields[i].Type, value)
	if err != nil {
		return nil, fmt.Errorf("item %s, field %s: %w", d.Name, name, err)
	}
	return coerced, nil
}

// declared is the declaration that an item follows, nil without one.
func (v *vm) declared(t *lua.LTable) *declaration {
	if meta, ok := t.Metatable.(*lua.LTable); ok {
		return v.kinds[meta]
	}
	return nil
}

// complete checks a whole item: types, defaults, and that nothing required is missing.
func (d *declaration) complete(t *lua.LTable) error {
	for name, def := range d.defaults {
		if t.RawGetString(name) == lua.LNil {
			t.RawSetString(name, def)
		}
	}
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		coerced, err := d.field(k, value)
		if err != nil {
			return err
		}
		if coerced != value {
			t.RawSet(k, coerced)
		}
	}
	for _, f := range d.Fields {
		if value := t.RawGetString(f.Name); f.Required && (value == lua.LNil || value == jsonNull) {
			return fmt.Errorf("item %s: field %s is missing, and it is required", d.Name, f.Name)
		}
	}
	return nil
}

// key is what identifies an item among those of its kind: the JSON of its key fields, "" when it has none.
func (d *declaration) key(t *lua.LTable) string {
	var b []byte
	for _, f := range d.Fields {
		if f.Key {
			b = append(b, f.Name...)
			b, _ = appendJSON(append(b, '='), f.Name, t.RawGetString(f.Name)) // complete has checked it
			b = append(b, 0)
		}
	}
	return string(b)
}

// fill counts which fields of its kind an item has: fill rates are these over items/KIND.
func (d *declaration) fill(t *lua.LTable, count func(name string)) {
	count("items/" + d.Name)
	for _, f := range d.Fields {
		if value := t.RawGetString(f.Name); value != lua.LNil && value != jsonNull {
			count("items/" + d.Name + "/" + f.Name)
		}
	}
}
