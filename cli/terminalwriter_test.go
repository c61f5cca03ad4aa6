package cli

import (
	"bytes"
	"testing"
)

func TestTerminalWriter(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"{\"a\":1}\n":              "{\"a\":1}\n",
		"a,\"b\tü\"\r\n1,2\r\n":    "a,\"b\tü\"\n1,2\n",
		"\x1b[2J\x1b]0;x\x07y\x7f": " [2J ]0;x y ",
		"a\rb\x9b31m\u009b":        "a b?31m ",
	} {
		var out bytes.Buffer
		n, err := terminalWriter{&out}.Write([]byte(given))
		if out.String() != want || n != len(given) || err != nil {
			t.Errorf("%q became %q, want %q; %d, %v", given, out.String(), want, n, err)
		}
	}
	var out bytes.Buffer
	if _, err := onTerminal(&out).Write([]byte("\x1b")); err != nil || out.String() != "\x1b" {
		t.Errorf("what is no terminal got %q, %v", out.String(), err)
	}
}
