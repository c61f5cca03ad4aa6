package luabind

import "testing"

func TestURL(t *testing.T) {
	t.Parallel()
	const all = `local p = url.parse(u); return p.href, p.scheme, p.username, p.password, p.host, p.hostname, p.port, p.domain, p.path, p.query, p.fragment`
	runCases(t, []moduleCase{
		{`local u = "HTTP://us:pw@WWW.News.co.uk:8080/a/../b?x=1&y=2#top"; ` + all,
			`http://us:pw@www.news.co.uk:8080/b?x=1&y=2#top|http|us|pw|www.news.co.uk:8080|www.news.co.uk|8080|news.co.uk|/b|x=1&y=2|top`},
		{`local u = "http://a.test:80"; ` + all, `http://a.test/|http|||a.test|a.test|nil|a.test|/||`},
		{`local u = "http://[::1]:81/?"; ` + all, `http://[::1]:81/?|http|||[::1]:81|[::1]|81|[::1]|/||`},
		{`local u = "mailto:a@b.test?subject=x"; ` + all, `mailto:a@b.test?subject=x|mailto|||||nil||a@b.test|subject=x|`},
		{`local q = url.parse("http://a.test/?a=1&a=2&b=x%20y+z&c&=d&e=%zz&%C3%A9=%C3%A9").params; return q.a, q.b, q.c, q[""], q.e, q["é"], q.f`, `1|x y z||d|%zz|é|nil`},
		{`return (url.parse("/relative"))`, `nil`},
		{`return type(select(2, url.parse("http://")))`, `string`},
		{`return url.join("http://a.test/b/c?d", "../e#f"), url.join("http://a.test/b/c?d", "//h/"), url.join("http://x.test/", "y")`, `http://a.test/e#f|http://h/|http://x.test/y`},
		{`return (url.join("not absolute", "x")), (url.join("http://a.test/", "http://[broken"))`, `nil|nil`},
		{`return url.canonicalize("http://a.test/?b=2&a=1#frag")`, `http://a.test/?a=1&b=2`},
		{`return url.join("http://a.test/")`, `raised: <string>:1: bad argument #2 to join (string expected, got nil)`},
		{`return url.parse({})`, `raised: <string>:1: bad argument #1 to parse (string expected, got table)`},
	}, "url")
}
