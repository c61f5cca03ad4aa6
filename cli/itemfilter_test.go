package cli

import "testing"

func TestItemConditions(t *testing.T) {
	t.Parallel()
	const item = `{"title":"a=b & \"c\"","n":10,"id":12345678901234567890,"text":"7","on":true,"none":null,"list":["x",1],"at":"2026-12-01T00:00:00Z","neg":-0.5,"":1}`
	for condition, want := range map[string]bool{
		`title=a=b & "c"`: true, `title=a`: false, `title~^a=`: true, `title!~^a`: false, `title!=x`: true,
		`n=10`: true, `n=10.0`: true, `n=1e1`: true, `n!=10`: false, `n>9`: true, `n>10`: false, `n>=10`: true, `n<10`: false, `n<=10`: true, `n<abc`: true, `n<9`: false,
		`id=12345678901234567890`: true, `id=12345678901234567891`: false, `id>12345678901234567889`: true,
		`text>6`: true, `text=7.0`: true, `text<10`: true,
		`on=true`: true, `on!=false`: true, `on>1`: false,
		`none=`: true, `none!=`: false, `nosuch=`: true, `nosuch!=x`: true, `nosuch>1`: false, `nosuch<1`: false, `nosuch~^$`: true,
		`list=["x",1]`: true, `list~x`: true, `list>1`: false,
		`at>2026-11`: true, `at<2026-12`: false, `at>=2026-12`: true,
		`neg<0`: true, `neg>-1`: true,
		`n > 9`: true, `n=0x0a`: false, `n=Inf`: false, `n<Inf`: true,
	} {
		c, err := parseCondition(condition)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		if match, ok := matches([]itemCondition{c}, item); match != want || !ok {
			t.Errorf("%s: match %v, want %v", condition, match, want)
		}
	}
	for _, condition := range []string{"", "n", "=1", ">1", "n==1", "n!1", "n~(", "n!~["} {
		if c, err := parseCondition(condition); err == nil {
			t.Errorf("%q was read as %+v", condition, c)
		}
	}
	for _, item := range []string{"", "null", "1", `"x"`, "[1]", "{", "\xff"} {
		if match, ok := matches(nil, item); match || ok {
			t.Errorf("%q is taken for a JSON object", item)
		}
	}
}

func TestItemLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ item, want, must string }{
		{`{"a":1}`, `{"a":1}`, `{"a":1}`},
		{"{\n \"a\": \"<&>\"\r\n}", `{"a":"<&>"}`, `{"a":"<&>"}`},
		{"5", "5", "5"},
		{"x", "x", `"x"`},
		{"x\x1b", "x\x1b", `"x\u001b"`},
		{"x\ny", `"x\ny"`, `"x\ny"`},
		{"", "", `""`},
		{"\n", `"\n"`, `"\n"`},
		{"{\"a\":\"\n\"}", `"{\"a\":\"\n\"}"`, `"{\"a\":\"\n\"}"`},
	} {
		if got, must := itemLine(c.item, false), itemLine(c.item, true); got != c.want || must != c.must {
			t.Errorf("%q: %s, want %s; where it must be JSON %s, want %s", c.item, got, c.want, must, c.must)
		}
	}
}
