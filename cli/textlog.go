package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"

	"luacrawl/engine"
)

// textHandler is slog's text handler for people: the source line of a script's error with its caret, and the traceback, stand
// below the record and not quoted in it.
type textHandler struct {
	slog.Handler // writes to text.buf
	text         *textLog
}

// textLog is what all handlers of a log share.
type textLog struct {
	mu  sync.Mutex
	out io.Writer    // guarded by mu
	buf bytes.Buffer // guarded by mu
}

func newTextHandler(out io.Writer, o *slog.HandlerOptions) slog.Handler {
	text := &textLog{out: out}
	return textHandler{slog.NewTextHandler(&text.buf, o), text}
}

// Handle writes the record and what stands below it at once.
func (h textHandler) Handle(ctx context.Context, r slog.Record) error {
	inline := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	below := ""
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == engine.ScriptAttr && a.Value.Kind() == slog.KindGroup {
			below = excerpt(a.Value.Group())
		} else {
			inline.AddAttrs(a)
		}
		return true
	})
	h.text.mu.Lock()
	defer h.text.mu.Unlock()
	h.text.buf.Reset()
	if err := h.Handler.Handle(ctx, inline); err != nil {
		return err
	}
	for line := range strings.Lines(below) {
		h.text.buf.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
	_, err := h.text.out.Write(h.text.buf.Bytes())
	return err
}

// excerpt is the source line and the traceback. The rest of the group is in the record's message.
func excerpt(attrs []slog.Attr) string {
	var text string
	for _, a := range attrs {
		if value := a.Value.String(); value != "" && (a.Key == "source" || a.Key == "traceback") {
			text += value + "\n"
		}
	}
	return text
}

// WithAttrs and WithGroup keep the handler around slog's.
func (h textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return textHandler{h.Handler.WithAttrs(attrs), h.text}
}

// WithGroup is as WithAttrs.
func (h textHandler) WithGroup(name string) slog.Handler {
	return textHandler{h.Handler.WithGroup(name), h.text}
}
