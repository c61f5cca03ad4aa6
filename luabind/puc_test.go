package luabind

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// pucEdit is a piece of a file of PUC Lua's test suite that does not apply, from the line that begins with from up to the one that begins
// with to, which stays; without to it is that line alone. It begins after the edit before it. Lines keep their numbers.
type pucEdit struct {
	from, to string
	with     string // Lua that stands in its place
	why      string // "" for lines that gopher-lua's copy has turned into comments: their comment marks go
}

const endOfFile = "\x00"

// apply makes the edit and returns the line on which it ends.
func (e pucEdit) apply(t *testing.T, name string, lines []string, at int) int {
	t.Helper()
	find := func(text string) int {
		for ; at < len(lines); at++ {
			if strings.HasPrefix(lines[at], text) {
				return at
			}
		}
		t.Fatalf("%s: no line begins with %q; has the suite changed?", name, text)
		return 0
	}
	first := find(e.from)
	end := first + 1
	switch e.to {
	case "":
	case endOfFile:
		end = len(lines)
	default:
		at++
		end = find(e.to)
	}
	for i := first; i < end; i++ {
		if e.why == "" {
			lines[i] = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(lines[i], "--"), "[["), "]]")
		} else {
			lines[i] = ""
		}
	}
	lines[first] += e.with
	return end
}

// pucFolder is where the module cache has gopher-lua's copy of the suite.
func pucFolder(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/gopher-lua").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "_lua5.1-tests")
}

// TestPUCSuite runs what applies of PUC Lua 5.1's own test suite in the sandbox. The files are read from the module cache, where
// gopher-lua's module has them (MIT); puc_edits_test.go says what does not apply, and why.
func TestPUCSuite(t *testing.T) {
	t.Parallel()
	folder := pucFolder(t)
	for name, edits := range pucEdits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			at := 0
			for _, e := range edits {
				at = e.apply(t, name, lines, at)
			}
			c, err := compile(name, []byte(strings.Join(lines, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			v := newVM(nil, nil)
			defer v.close()
			v.openCompiler()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			if _, err := v.call(ctx, v.L.NewFunctionFromProto(c.proto)); err != nil {
				t.Error(err)
			}
		})
	}
}

// openCompiler adds functions that the suite works with and scripts have not: loadstring and load, which compile as a spider's file is
// compiled, and collectgarbage, which does nothing.
func (v *vm) openCompiler() {
	compileText := func(L *lua.LState, text, name string) int {
		c, err := compile(name, []byte(text))
		if err != nil {
			L.Push(lua.LNil)
			L.Push(lua.LString(err.Error()))
			return 2
		}
		L.Push(L.NewFunctionFromProto(c.proto))
		return 1
	}
	v.L.SetFuncs(v.L.G.Global, map[string]lua.LGFunction{
		"loadstring": func(L *lua.LState) int {
			s := L.CheckString(1)
			return compileText(L, s, L.OptString(2, chunkName(s)))
		},
		"load": func(L *lua.LState) int {
			var text strings.Builder
			for {
				L.Push(L.CheckFunction(1))
				L.Call(0, 1)
				piece := lua.LVAsString(L.Get(-1))
				L.Pop(1)
				if piece == "" {
					return compileText(L, text.String(), L.OptString(2, "=(load)"))
				}
				text.WriteString(piece)
			}
		},
		"collectgarbage": func(*lua.LState) int { return 0 },
	})
}

// chunkName is how Lua's errors call a chunk that is a string.
func chunkName(text string) string {
	first, _, more := strings.Cut(text, "\n")
	if more || len(first) > 40 {
		return fmt.Sprintf(`[string "%.40s..."]`, first)
	}
	return fmt.Sprintf(`[string "%s"]`, first)
}
