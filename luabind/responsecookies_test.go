package luabind

import (
	"net/http"
	"testing"

	"luacrawl/engine"
)

func TestResponseCookies(t *testing.T) {
	t.Parallel()
	page := func(lines ...string) *engine.Response {
		return &engine.Response{URL: "https://www.e.test/a/b", Header: http.Header{"Set-Cookie": lines}}
	}
	for _, tt := range []struct {
		page         *engine.Response
		script, want string
	}{
		{page("a=1"), `return response.cookies`, `[{"httponly":false,"name":"a","path":"/a","secure":false,"value":"1"}]`},
		{page("a=1; Domain=e.test; Path=/; Secure; HttpOnly; Expires=Wed, 01 Jan 2020 00:00:00 GMT"), `return response.cookies`,
			`[{"domain":"e.test","expires":1577836800,"httponly":true,"name":"a","path":"/","secure":true,"value":"1"}]`},
		{page("a=1; Max-Age=600"), `local left = response.cookies[1].expires - os.time() return left > 500 and left <= 601`, `true`},
		{page("a=1", "b=2; Domain=other.test", "c=3"), `local names = {} for _, c in ipairs(response.cookies) do names[#names + 1] = c.name end return names`, `["a","c"]`},
		{page(), `return #response.cookies`, `0`},
		{page("a=1"), `return rawequal(response.cookies, response.cookies)`, `true`},
	} {
		got, err := runPage(t, tt.page, tt.script)
		if err != nil || got != tt.want {
			t.Errorf("%q: %s\ngot  %s %v\nwant %s", tt.page.Header["Set-Cookie"], tt.script, got, err, tt.want)
		}
	}
}
