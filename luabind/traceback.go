package luabind

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// frameLine is a Lua function's line in gopher-lua's stack trace.
var frameLine = regexp.MustCompile(`^(.+):(\d+): in (.*)$`)

// traceback is gopher-lua's stack trace without the frames of Go functions, and with the spider's functions by name:
// gopher-lua knows only what the caller calls them, and a callback's caller is us.
func (v *vm) traceback(trace string) string {
	var frames []string
	lines := strings.Split(trace, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "stack traceback") || strings.HasPrefix(line, "[G]") || strings.Contains(line, "(tailcall)") {
			continue
		}
		if m := frameLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[2])
			name := v.functionName(m[1], number, m[3])
			if m[3] == "main chunk" && i+1 < len(lines) && strings.Contains(lines[i+1], "(tailcall)") {
				name = "a function that " + name + " ended with" // a tail call leaves no frame of its caller
			}
			line = fmt.Sprintf("%s:%s: in %s", m[1], m[2], name)
		}
		frames = append(frames, line)
	}
	return strings.Join(frames, "\n")
}

// functionName is how a traceback calls the function that a frame runs. given is gopher-lua's name: the caller's, a place, or
// "main chunk" and "corountine" (as it writes that) for what we have called.
func (v *vm) functionName(file string, line int, given string) string {
	var root *lua.FunctionProto
	if v.gen != nil {
		if s := v.gen.source(file); s != nil {
			root = s.proto
		}
	}
	if root == nil || strings.HasPrefix(given, "function '") {
		return given
	}
	fn := innermost(root, line)
	if place, ok := strings.CutPrefix(given, "function <"+file+":"); ok {
		defined, _ := strconv.Atoi(strings.TrimSuffix(place, ">"))
		fn = definedAt(root, defined)
	} else if named := v.innermostNamed(file, line); named != nil && given == "main chunk" {
		fn = named
	}
	switch {
	case fn == nil:
		return given
	case fn == root:
		return "main chunk"
	}
	if name := v.nameOf(fn); name != "" {
		return fmt.Sprintf("function '%s'", name)
	}
	return fmt.Sprintf("function <%s:%d>", file, fn.LineDefined)
}

// innermost is the function that a line stands in.
func innermost(fn *lua.FunctionProto, line int) *lua.FunctionProto {
	for _, inner := range fn.FunctionPrototypes {
		if inner.LineDefined <= line && line <= inner.LastLineDefined {
			return innermost(inner, line)
		}
	}
	return fn
}

// definedAt is the first function that begins on a line, or nil.
func definedAt(fn *lua.FunctionProto, line int) *lua.FunctionProto {
	for _, inner := range fn.FunctionPrototypes {
		if inner.LineDefined == line {
			return inner
		}
		if found := definedAt(inner, line); found != nil {
			return found
		}
	}
	return nil
}

// innermostNamed is the shortest of the spider's own functions that a line stands in, or nil.
func (v *vm) innermostNamed(file string, line int) (found *lua.FunctionProto) {
	for fn := range v.names {
		p := fn.Proto
		if p == nil || p.SourceName != file || line < p.LineDefined || line > p.LastLineDefined {
			continue
		}
		if found == nil || p.LastLineDefined-p.LineDefined < found.LastLineDefined-found.LineDefined {
			found = p
		}
	}
	return found
}

// nameOf is the spider's name for a function, or "".
func (v *vm) nameOf(p *lua.FunctionProto) string {
	for fn, name := range v.names {
		if fn.Proto == p {
			return name
		}
	}
	return ""
}
