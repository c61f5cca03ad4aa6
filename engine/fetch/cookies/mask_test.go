package cookies

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                                  "***",
		"sid=sesame":                        "sid=***",
		"sid=sesame; lang=sesame":           "sid=***; lang=***",
		"sesame":                            "***",
		"a=sesame=sesame;sesame; b=":        "a=***; ***; ***",
		"=sesame":                           "=***",
		"sesame=":                           "***", // as a nameless one is sent
		" sesame== ; a=1":                   "***; a=***",
		"a= =1":                             "a=***",
		strings.Repeat("a=1; ", 11) + "z=1": strings.Repeat("a=***; ", 11) + "z=***",
		strings.Repeat("a=1;", 12) + "sesame=1; sesame; ;": strings.Repeat("a=***; ", 12) + "4 more",
		strings.Repeat("n", 50) + "=1":                     strings.Repeat("n", 40) + "...=***",
		" spaces = sesame ;\ttab=\t \t":                    "spaces=***; ***",
	} {
		if got := Mask(header); got != want {
			t.Errorf("%q is shown as %q, want %q", header, got, want)
		}
	}
}

func TestMaskSetCookie(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sid=sesame": "sid=***",
		"sid=sesame; Path=/a; Domain=e.com; Secure; HttpOnly; SameSite=Lax": "sid=***; Path=/a; Domain=e.com; Secure; HttpOnly; SameSite=Lax",
		"sid=; Max-Age=0; expires=Thu, 01 Jan 1970 00:00:00 GMT":            "sid=; Max-Age=0; expires=Thu, 01 Jan 1970 00:00:00 GMT",
		`sid="open;sesame";Path=/`:                                          `sid=***; ***; Path=/`,
		"sid=1" + strings.Repeat("; Path=/", 11):                            "sid=***" + strings.Repeat("; Path=/", 11),
		"sid=1" + strings.Repeat(";sesame", 5000):                           "sid=***" + strings.Repeat("; ***", 11) + "; 4989 more",
		"=sesame=":                     "=***",
		"sesame;sesame=sesame; sesame": "***; ***; ***",
		"a=sesame; Path=/" + strings.Repeat("p", 200):                                "a=***; Path=/" + strings.Repeat("p", 94) + "...",
		strings.Repeat("n", 4000) + "=sesame; " + strings.Repeat("x", 4000) + "=1; ": strings.Repeat("n", 40) + "...=***; ***; ***",
	} {
		if got := MaskSetCookie(line); got != want {
			t.Errorf("%q is shown as %q, want %q", line, got, want)
		}
	}
}
