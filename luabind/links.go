package luabind

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

var linkOptions = []string{"allow", "deny", "same_host", "restrict_css", "unique"}

// links is response:links{allow, deny, same_host, restrict_css, unique}: a list of absolute URLs.
func (v *vm) responseLinks(L *lua.LState) int {
	r := checkResponse(L)
	urls, err := r.Links(linkFilter(L))
	if err != nil {
		L.RaiseError("response:links: %s", err)
	}
	r.links, r.linkTable = urls, newStringList(L, urls)
	L.Push(r.linkTable)
	return 1
}

// linkFilter reads the options of links.
func linkFilter(L *lua.LState) engine.LinkFilter {
	var f engine.LinkFilter
	options, ok := L.Get(2).(*lua.LTable)
	if !ok {
		if L.Get(2) != lua.LNil {
			L.RaiseError("response:links needs a table of options, got %s", L.Get(2).Type())
		}
		return f
	}
	for key, value := options.Next(lua.LNil); key != lua.LNil; key, value = options.Next(key) {
		linkOption(L, &f, lua.LVAsString(key), value)
	}
	return f
}

func linkOption(L *lua.LState, f *engine.LinkFilter, key string, value lua.LValue) {
	switch key {
	case "allow":
		f.Allow = linkPatterns(L, key, value)
	case "deny":
		f.Deny = linkPatterns(L, key, value)
	case "same_host":
		f.SameHost = linkFlag(L, key, value)
	case "unique":
		f.All = !linkFlag(L, key, value)
	case "restrict_css":
		css, ok := value.(lua.LString)
		if !ok {
			L.RaiseError("links option restrict_css needs a CSS selector as a string, got %s", value.Type())
		}
		sel, err := engine.CompileSelector(string(css))
		if err != nil {
			L.RaiseError("links option restrict_css: %s", err)
		}
		f.Restrict = sel
	default:
		raiseUnknown(L, fmt.Sprintf("response:links has no option %q", key), key, linkOptions)
	}
}

func linkFlag(L *lua.LState, key string, value lua.LValue) bool {
	flag, ok := value.(lua.LBool)
	if !ok {
		L.RaiseError("links option %s is true or false, not a %s", key, value.Type())
	}
	return bool(flag)
}

// linkPatterns reads one pattern or a list of them.
func linkPatterns(L *lua.LState, key string, value lua.LValue) []*engine.Pattern {
	list, ok := value.(*lua.LTable)
	if !ok {
		return []*engine.Pattern{linkPattern(L, key, value)}
	}
	patterns := make([]*engine.Pattern, 0, list.Len())
	for i := 1; i <= list.Len(); i++ {
		patterns = append(patterns, linkPattern(L, key, list.RawGetInt(i)))
	}
	return patterns
}

func linkPattern(L *lua.LState, key string, value lua.LValue) *engine.Pattern {
	expr, ok := value.(lua.LString)
	if !ok {
		L.RaiseError("links option %s needs a pattern or a list of patterns, got %s", key, value.Type())
	}
	p, err := engine.CompilePattern(string(expr))
	if err != nil {
		L.RaiseError("links option %s: %s", key, err)
	}
	return p
}
