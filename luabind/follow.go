package luabind

import (
	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// follow is response:follow(href, [callback | options]): a request for a link of the page. href is a string, or a selection whose
// first match is a link or a string. A link that is no http or https URL gives nil and an error, since links come from a site.
func (v *vm) responseFollow(L *lua.LState) int {
	r := checkResponse(L)
	href := followHref(L, L.Get(2))
	request := v.followOptions(L, L.Get(3))
	u, err := followURL(r.Response, href)
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	request.URL = u
	L.Push(v.wrapRequest(request))
	return 1
}

// follow_all is response:follow_all(links, [callback | options]): a list of requests for a list of links, which may be a selection
// or a table of what follow takes. Links that follow has no request for are left out.
func (v *vm) responseFollowAll(L *lua.LState) int {
	r := checkResponse(L)
	urls := v.followURLs(L, r, L.Get(2))
	request, err := v.finish(v.followOptions(L, L.Get(3)))
	if err != nil {
		L.RaiseError("follow_all: %s", err)
	}
	L.Push(v.requestsLike(request, urls))
	return 1
}

// requestsLike makes a list of requests that differ in their URLs only. Pages have hundreds of links, so they are made in one go.
func (v *vm) requestsLike(request *scheduler.Request, urls []string) *lua.LTable {
	list := v.newRequestList(nil)
	requests := make([]scheduler.Request, len(urls))
	wrapped := make([]luaRequest, len(urls))
	userdata := make([]lua.LUserData, len(urls))
	sample := v.wrapRequest(&luaRequest{})
	for i, u := range urls {
		requests[i] = *request
		requests[i].URL = u
		wrapped[i].Request, wrapped[i].own = &requests[i], true
		userdata[i] = *sample
		userdata[i].Value = &wrapped[i]
		list.Append(&userdata[i])
	}
	return list
}

// followOptions is a request without URL that has what a callback, or a table of options, says.
func (v *vm) followOptions(L *lua.LState, options lua.LValue) *luaRequest {
	request := &luaRequest{Request: &scheduler.Request{}, own: true}
	switch options := options.(type) {
	case *lua.LNilType:
	case *lua.LTable:
		if options.RawGetString("url") != lua.LNil {
			L.RaiseError("follow has its link in front of the options, not in a field url")
		}
		v.setOptions(L, request, options)
	default:
		if err := v.setCallback(options, &request.Callback); err != nil {
			L.RaiseError("follow: callback %s", err)
		}
	}
	return request
}

// followURLs resolves a list of links.
func (v *vm) followURLs(L *lua.LState, r *response, links lua.LValue) []string {
	if s, ok := asSelection(L, links); ok {
		urls := make([]string, 0, s.Len())
		for i := range s.Len() {
			if href, ok := s.At(i).Href(); ok {
				urls = appendURL(urls, r.Response, href)
			}
		}
		return urls
	}
	list, ok := links.(*lua.LTable)
	if !ok {
		L.RaiseError("follow_all needs a list of links or a selection, got %s", links.Type())
	}
	urls := make([]string, 0, list.Len())
	for i := 1; i <= list.Len(); i++ {
		href := followHref(L, list.RawGetInt(i))
		if list == r.linkTable && i <= len(r.links) && href == r.links[i-1] {
			urls = append(urls, href) // links{} has resolved it
		} else {
			urls = appendURL(urls, r.Response, href)
		}
	}
	return urls
}

func appendURL(urls []string, r *engine.Response, href string) []string {
	if u, err := followURL(r, href); err == nil {
		urls = append(urls, u)
	}
	return urls
}

// followURL is the absolute URL of a link that can be fetched.
func followURL(r *engine.Response, href string) (string, error) {
	u, err := r.Join(href)
	if err == nil && !weburl.IsHTTP(u) {
		err = &notFetchable{href, r.URL}
	}
	return u, err
}

// notFetchable is a link with another scheme than http and https.
type notFetchable struct{ href, page string }

func (e *notFetchable) Error() string {
	return "link \"" + e.href + "\" on " + e.page + " is not http or https"
}

// followHref is the link in a string or in the first match of a selection. What has none raises.
func followHref(L *lua.LState, lv lua.LValue) string {
	if href, ok := lv.(lua.LString); ok {
		return string(href)
	}
	s, ok := asSelection(L, lv)
	if !ok {
		L.RaiseError("follow needs a link as a string or a selection, got %s", lv.Type())
	}
	href, ok := s.Href()
	if !ok {
		L.RaiseError("follow: the selection has no link (%d matches; the first needs an href, or to be a string)", s.Len())
	}
	return href
}
