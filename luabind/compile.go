package luabind

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"luacrawl/engine"
)

// maxSource is the largest Lua file that is compiled, in bytes.
const maxSource = 4 << 20

// compiled is one Lua file, ready to run in any number of VMs.
type compiled struct {
	proto    *lua.FunctionProto
	requires []string // the literal names that it requires
}

// compile turns Lua source into a prototype. name is how errors call the file. What gopher-lua's compiler gets wrong is
// rewritten first (repair.go). Errors are *engine.ScriptError of kind "syntax".
func compile(name string, src []byte) (*compiled, error) {
	chunk, err := parseSource(name, src)
	if err != nil {
		return nil, err
	}
	return compileChunk(name, chunk)
}

func parseSource(name string, src []byte) ([]ast.Stmt, error) {
	switch {
	case len(src) > maxSource:
		return nil, syntaxError(name, 0, fmt.Sprintf("the file has %d bytes, more than the %d allowed; keep data outside of Lua files", len(src), maxSource))
	case bytes.HasPrefix(src, []byte("\x1bLua")):
		return nil, syntaxError(name, 0, "the file is compiled Lua; give its source")
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(src, []byte("#")) { // a shebang line; its newline stays so that line numbers hold
		src = src[max(0, bytes.IndexByte(src, '\n')):]
	}
	chunk, err := parse.Parse(bytes.NewReader(src), name)
	var bad *parse.Error
	switch {
	case errors.As(err, &bad):
		e := syntaxError(name, syntaxLine(src, bad), syntaxMessage(bad))
		e.Column = syntaxColumn(src, bad)
		return nil, e
	case err != nil:
		return nil, syntaxError(name, 0, err.Error())
	case chunk == nil: // the parser swallows panics that are no errors
		return nil, syntaxError(name, 0, "the file cannot be parsed")
	}
	return chunk, nil
}

func syntaxLine(src []byte, e *parse.Error) int {
	if e.Pos.Line == parse.EOF {
		return bytes.Count(bytes.TrimRight(src, "\n"), []byte("\n")) + 1
	}
	return e.Pos.Line
}

// syntaxColumn is where the token begins: the parser tells where it ends.
func syntaxColumn(src []byte, e *parse.Error) int {
	if e.Pos.Line == parse.EOF {
		return 0
	}
	begin := e.Pos.Column - len(e.Token)
	if line := lineOf(src, e.Pos.Line); begin >= 0 && begin < len(line) && strings.HasPrefix(line[begin:], e.Token) {
		return begin + 1
	}
	return e.Pos.Column
}

func syntaxMessage(e *parse.Error) string {
	message := strings.TrimSpace(e.Message)
	if e.Pos.Line == parse.EOF {
		return message + " at the end of the file: is an \"end\" or a bracket missing?"
	}
	return fmt.Sprintf("%s near %q", message, e.Token)
}

func compileChunk(name string, chunk []ast.Stmt) (c *compiled, err error) {
	defer func() {
		if p := recover(); p != nil {
			c, err = nil, compilePanic(name, p)
		}
	}()
	r := &repair{}
	chunk = r.chunk(chunk)
	proto, err := lua.Compile(chunk, name)
	var bad *lua.CompileError
	if errors.As(err, &bad) {
		return nil, syntaxError(name, bad.Line, bad.Message)
	}
	if err != nil {
		return nil, syntaxError(name, 0, err.Error())
	}
	r.patch(proto)
	return &compiled{proto, r.requires}, nil
}

func compilePanic(name string, p any) error {
	if bad, ok := p.(*repairError); ok {
		return syntaxError(name, bad.line, bad.message)
	}
	return syntaxError(name, 0, fmt.Sprintf("the file cannot be compiled: %v", p))
}

func syntaxError(name string, line int, message string) *engine.ScriptError {
	return &engine.ScriptError{Kind: "syntax", Message: message, File: name, Line: line}
}
