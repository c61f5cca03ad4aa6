package cli

import (
	"bytes"
	"log/slog"
	"testing"

	"luacrawl/engine"
)

func TestScriptErrorsStandBelowTheirRecord(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := slog.New(newTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})).With("spider", "blog")
	l.Error("callback_error a.lua:1", "url", "http://a.test/", slog.Group(engine.ScriptAttr, "line", 1, "source", "x = y.z\n^", "traceback", "a.lua:1: in function 'parse'"))
	l.Info("plain", "source", "two\nlines", engine.ScriptAttr, "of a log.info")
	want := `level=ERROR msg="callback_error a.lua:1" spider=blog url=http://a.test/
    x = y.z
    ^
    a.lua:1: in function 'parse'
level=INFO msg=plain spider=blog source="two\nlines" script="of a log.info"
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
