package luabind

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// explain turns what a protected call returned into a *engine.ScriptError, or into ctx's error when the call was cancelled
// rather than too slow. It marks the VM as broken when its state cannot be trusted.
func (v *vm) explain(ctx context.Context, err error) error {
	interrupted, exhausted := v.interrupt.now(), v.interrupt.exhausted()
	var raised *lua.ApiError
	isRaised := errors.As(err, &raised)
	v.broken = v.broken || interrupted || !isRaised || raised.Type == lua.ApiErrorPanic
	if interrupted && !exhausted && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if !isRaised {
		return &engine.ScriptError{Kind: "error", Message: err.Error()}
	}
	if ud, ok := raised.Object.(*lua.LUserData); ok && !interrupted {
		switch ended := ud.Value.(type) {
		case *unavailable:
			return &engine.UnavailableError{Reason: ended.reason}
		case *retryAsked:
			return ended.asked
		}
	}
	e := v.scriptError(raised)
	switch {
	case exhausted:
		e.Kind, e.Message = "memory", "it was ended since it had run longest when the process held more memory than it may (setting memory_limit)"
	case interrupted:
		e.Kind, e.Message = "timeout", "it ran for longer than it may (setting callback_timeout)"
	}
	return e
}

// scriptError reads the position and the Lua frames out of an error.
func (v *vm) scriptError(raised *lua.ApiError) *engine.ScriptError {
	e := &engine.ScriptError{Kind: "error", Message: clipText(v.errorText(raised)), Traceback: v.traceback(raised.StackTrace)}
	e.File, e.Line, e.Message = splitPosition(e.Message)
	if e.File == "" { // error(text, 0), or not text at all: the innermost frame is the next best
		e.File, e.Line, _ = splitPosition(e.Traceback)
	}
	return e
}

// mostText is how much of a script's error is kept, in bytes: it goes to logs and dead letters, and may be a whole page.
const mostText = 2000

func clipText(s string) string {
	if len(s) <= mostText {
		return s
	}
	return strings.ToValidUTF8(s[:mostText], "") + fmt.Sprintf("... (%d bytes)", len(s))
}

// errorText is what the script raised, as text.
func (v *vm) errorText(raised *lua.ApiError) string {
	switch o := raised.Object.(type) {
	case lua.LString:
		return strings.TrimSpace(string(o))
	case nil, *lua.LNilType:
		if raised.Cause != nil {
			return raised.Cause.Error()
		}
		return "an error without a message (error(nil))"
	case *lua.LTable:
		if message, ok := o.RawGetString("message").(lua.LString); ok {
			return string(message)
		}
		if b, err := appendJSON(nil, "error", o); err == nil {
			return "error value " + string(b)
		}
		return "an error value that is a table"
	default:
		return "error value " + o.String()
	}
}

var position = regexp.MustCompile(`^\s*([^\n]*?\.lua):(\d+):\s*`)

// splitPosition takes "file.lua:12: text" apart.
func splitPosition(text string) (file string, line int, rest string) {
	m := position.FindStringSubmatchIndex(text)
	if m == nil {
		return "", 0, text
	}
	line, _ = strconv.Atoi(text[m[4]:m[5]])
	return text[m[2]:m[3]], line, text[m[1]:]
}
