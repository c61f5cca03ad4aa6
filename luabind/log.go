package luabind

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// openLog makes the global log: log(text, fields) at level info, and log.debug, log.info, log.warn, log.error.
func (v *vm) openLog() {
	t := v.L.CreateTable(0, 5)
	for name, level := range levels {
		t.RawSetString(name, v.L.NewFunction(func(L *lua.LState) int { return v.log(L, level, 1) }))
	}
	call := v.L.NewFunction(func(L *lua.LState) int { return v.log(L, slog.LevelInfo, 2) })
	t.Metatable = protected("log", map[string]lua.LValue{"__call": call})
	v.L.SetGlobal("log", t)
}

func (v *vm) log(L *lua.LState, level slog.Level, arg int) int {
	text := v.tostringValue(L, L.CheckAny(arg))
	v.logAt(L, level, text, L.OptTable(arg+1, nil))
	return 0
}

// logAt logs with the place in the script.
func (v *vm) logAt(L *lua.LState, level slog.Level, text string, fields *lua.LTable) {
	ctx := context.Background()
	if v.logger == nil || !v.logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("at", strings.TrimSuffix(strings.TrimSpace(L.Where(1)), ":"))}
	if fields != nil {
		fields.ForEach(func(k, value lua.LValue) { attrs = append(attrs, slog.Any(k.String(), logValue(value))) })
	}
	v.logger.LogAttrs(ctx, level, clipLog(text), attrs...)
}

// maxLogText is the longest text or field that is logged, in bytes.
const maxLogText = 32 << 10

func clipLog(text string) string {
	if len(text) <= maxLogText {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:maxLogText], ""), len(text))
}

func logValue(lv lua.LValue) any {
	switch lv := lv.(type) {
	case lua.LBool:
		return bool(lv)
	case lua.LNumber:
		return float64(lv)
	case *lua.LTable:
		if b, err := appendJSON(nil, "field", lv); err == nil {
			return clipLog(string(b))
		}
	}
	return clipLog(lv.String())
}
