package luabind

import (
	"net/url"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/scheduler/weburl"
)

func init() { modules["url"] = urlModule }

// urlModule is require "url": URLs as browsers read them. A URL that cannot be read gives nil and why, since URLs come from sites.
func urlModule(v *vm) lua.LValue {
	j := &joiner{}
	return v.L.SetFuncs(v.L.NewTable(), map[string]lua.LGFunction{
		"parse": urlParse, "join": j.join, "canonicalize": urlCanonicalize,
	})
}

// joiner keeps the base of the last join: a page's links have one.
type joiner struct {
	raw  string
	base *weburl.Base
}

// join is url.join(base, ref): the absolute URL of a link.
func (j *joiner) join(L *lua.LState) int {
	raw, ref := L.CheckString(1), L.CheckString(2)
	if j.base == nil || j.raw != raw {
		base, err := weburl.ParseBase(raw)
		if err != nil {
			return pushError(L, err)
		}
		j.raw, j.base = raw, base
	}
	u, err := j.base.Resolve(ref)
	if err != nil {
		return pushError(L, err)
	}
	L.Push(lua.LString(u))
	return 1
}

func pushError(L *lua.LState, err error) int {
	L.Push(lua.LNil)
	L.Push(lua.LString(err.Error()))
	return 2
}

// urlCanonicalize is url.canonicalize(u): w3lib's canonical form, the one that the duplicate check compares.
func urlCanonicalize(L *lua.LState) int {
	L.Push(lua.LString(weburl.Canonicalize(L.CheckString(1))))
	return 1
}

// urlParse is url.parse(u): a table of href (the normalised URL), scheme, username, password, host (with the port), hostname, port
// (a number, nil for the scheme's own), domain (the registrable one), path, query, params (the query's first value of each name,
// decoded) and fragment. Parts that are not there are "", but for the port.
func urlParse(L *lua.LState) int {
	href, err := weburl.Parse(L.CheckString(1))
	if err != nil {
		return pushError(L, err)
	}
	t := L.CreateTable(0, 12)
	set := func(name, value string) { t.RawSetString(name, lua.LString(value)) }
	scheme, rest, _ := strings.Cut(href, ":")
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := cutAuthority(rest)
	set("href", href)
	set("scheme", scheme)
	set("path", path)
	set("query", query)
	set("fragment", fragment)
	t.RawSetString("params", urlParams(L, query))
	username, password := userinfoOf(authority)
	set("username", username)
	set("password", password)
	host, hostname := weburl.Host(href), weburl.Hostname(href)
	set("host", host)
	set("hostname", hostname)
	set("domain", weburl.Domain(hostname))
	if port := strings.TrimPrefix(host[len(hostname):], ":"); port != "" {
		t.RawSetString("port", lua.LNumber(lua.LVAsNumber(lua.LString(port))))
	}
	L.Push(t)
	return 1
}

// cutAuthority takes "//host/path" apart.
func cutAuthority(rest string) (authority, path string) {
	after, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return "", rest
	}
	if slash := strings.IndexByte(after, '/'); slash >= 0 {
		return after[:slash], after[slash:]
	}
	return after, ""
}

func userinfoOf(authority string) (username, password string) {
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return "", ""
	}
	username, password, _ = strings.Cut(authority[:at], ":")
	return username, password
}

// urlParams decodes a query; what is not well-formed in it stays as it is.
func urlParams(L *lua.LState, query string) *lua.LTable {
	t := L.NewTable()
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name = decodeParam(name)
		if pair != "" && t.RawGetString(name) == lua.LNil {
			t.RawSetString(name, lua.LString(decodeParam(value)))
		}
	}
	return t
}

func decodeParam(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}
