package engine

import "testing"

// TestOuterHTML: nothing of an element is lost, whatever the parser has put where.
func TestOuterHTML(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<p title="a&quot;b">x &lt; y<br>z</p>`:                      `<p title="a&#34;b">x &lt; y<br/>z</p>`,
		`<svg><link href="x&amp;"><path d="1"></path></svg><p>after`: `<svg><link href="x&amp;"/><path d="1"></path></svg><p>after</p>`,
		`<div><math><input>1<br></math></div>`:                       `<div><math><input/>1</math><br/></div>`,
	} {
		p := htmlPage("http://h/", "<body>"+body)
		if got, _ := p.Select(selector(t, "body")).Get(); got != "<body>"+want+"</body>" {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}
