package luabind

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine/fetch/cookies"
	"luacrawl/scheduler"
)

// setCookies reads the option cookies: a table of names and values, or a list of tables with name, value, domain, path and secure.
func setCookies(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	t, ok := lv.(*lua.LTable)
	if !ok {
		return typeError(lv, "a table of names and values, or a list of { name = ..., value = ... }")
	}
	var list scheduler.RequestCookies
	var err error
	if t.RawGetInt(1) != lua.LNil {
		list, err = cookieList(t)
	} else {
		err = eachString(t, func(name, value string) error {
			list = append(list, scheduler.RequestCookie{Name: name, Value: value})
			return nil
		})
		slices.SortFunc(list, func(a, b scheduler.RequestCookie) int { return cmp.Compare(a.Name, b.Name) }) // a table has no order
	}
	if err == nil {
		err = checkCookies(list)
	}
	r.Cookies = list
	return err
}

// cookieList reads a list of cookies.
func cookieList(t *lua.LTable) (list scheduler.RequestCookies, err error) {
	for i := 1; i <= t.Len() && err == nil; i++ {
		one, ok := t.RawGetInt(i).(*lua.LTable)
		if !ok {
			return nil, fmt.Errorf("has a %s at %d of the list; it must be a table with name and value", t.RawGetInt(i).Type(), i)
		}
		var c scheduler.RequestCookie
		one.ForEach(func(k, value lua.LValue) {
			if err == nil {
				err = setCookieField(&c, k.String(), value)
			}
		})
		if err == nil && (one.RawGetString("name") == lua.LNil || one.RawGetString("value") == lua.LNil) {
			err = errors.New("needs name and value")
		}
		if err != nil {
			err = fmt.Errorf("has at %d of the list a cookie that %w", i, err)
		}
		list = append(list, c)
	}
	return list, err
}

func setCookieField(c *scheduler.RequestCookie, name string, value lua.LValue) error {
	texts := map[string]*string{"name": &c.Name, "value": &c.Value, "domain": &c.Domain, "path": &c.Path}
	if into := texts[name]; into != nil {
		switch value.(type) {
		case lua.LString, lua.LNumber:
			*into = value.String()
			return nil
		}
		return fmt.Errorf("has a %s as %s; it must be a string", value.Type(), name)
	}
	if name != "secure" {
		return fmt.Errorf("has the unknown field %q; known are name, value, domain, path, secure", name)
	}
	secure, ok := value.(lua.LBool)
	if !ok {
		return fmt.Errorf("has a %s as secure; it must be true or false", value.Type())
	}
	c.Secure = (*bool)(&secure)
	return nil
}

// checkCookies refuses what cannot be sent. Its error shows no values.
func checkCookies(list scheduler.RequestCookies) error {
	for _, c := range list {
		if err := cookies.RequestCookie(c).Check(); err != nil {
			return fmt.Errorf("has a cookie that is none: %w", err)
		}
	}
	return nil
}

// cookieTable is the option cookies of a request as a script reads it, in one of its two forms.
func (v *vm) cookieTable(list scheduler.RequestCookies) *lua.LTable {
	t := v.L.CreateTable(0, 4)
	if values, plain := list.Plain(); plain {
		for name, value := range values {
			t.RawSetString(name, lua.LString(value))
		}
		return t
	}
	for _, c := range list {
		one := v.L.CreateTable(0, 5)
		one.RawSetString("name", lua.LString(c.Name))
		one.RawSetString("value", lua.LString(c.Value))
		one.RawSetString("domain", nonEmpty(c.Domain))
		one.RawSetString("path", nonEmpty(c.Path))
		if c.Secure != nil {
			one.RawSetString("secure", lua.LBool(*c.Secure))
		}
		t.Append(one)
	}
	return t
}
