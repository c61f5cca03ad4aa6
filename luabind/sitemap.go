package luabind

import (
	"context"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine/sitemap"
)

// responseRobots is response:robots(): what the page says to this crawler about itself (X-Robots-Tag, meta robots), and the sitemaps that
// its site's robots.txt names; sitemaps is nil when that was not asked for.
func responseRobots(L *lua.LState) int {
	r := checkResponse(L)
	d := r.Directives()
	t := L.CreateTable(0, 5)
	t.RawSetString("noindex", lua.LBool(d.NoIndex))
	t.RawSetString("nofollow", lua.LBool(d.NoFollow))
	t.RawSetString("noarchive", lua.LBool(d.NoArchive))
	if !d.UnavailableAfter.IsZero() {
		t.RawSetString("unavailable_after", lua.LNumber(d.UnavailableAfter.Unix()))
	}
	urls, known, err := r.SiteSitemaps(callContext(L))
	if err != nil {
		L.RaiseError("response:robots: %s", err)
	}
	if known {
		t.RawSetString("sitemaps", newStringList(L, urls))
	}
	L.Push(t)
	return 1
}

// responseSitemap is response:sitemap(): the page as a sitemap { urls, sitemaps, cut }, lists of { loc, lastmod, alternates }, or nil and
// an error for what is none, since it comes from a site. cut says why the rest of one was not read.
func responseSitemap(L *lua.LState) int {
	r := checkResponse(L)
	ctx := callContext(L)
	found, err := r.Sitemap(ctx)
	if err != nil {
		if ctx.Err() != nil {
			L.RaiseError("response:sitemap: %s", ctx.Err())
		}
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	t := L.CreateTable(0, 3)
	t.RawSetString("urls", newEntryList(L, found.Pages))
	t.RawSetString("sitemaps", newEntryList(L, found.Sitemaps))
	if found.Cut != nil {
		t.RawSetString("cut", lua.LString(found.Cut.Error()))
	}
	L.Push(t)
	return 1
}

// callContext is the context that ends with the call.
func callContext(L *lua.LState) context.Context {
	if ctx := L.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

func newEntryList(L *lua.LState, entries []sitemap.Entry) *lua.LTable {
	list := L.CreateTable(len(entries), 0)
	for i, e := range entries {
		t := L.CreateTable(0, 3)
		t.RawSetString("loc", lua.LString(e.Loc))
		if e.LastMod != "" {
			t.RawSetString("lastmod", lua.LString(e.LastMod))
		}
		if len(e.Alternates) > 0 {
			t.RawSetString("alternates", newStringList(L, e.Alternates))
		}
		list.RawSetInt(i+1, t)
	}
	return list
}
