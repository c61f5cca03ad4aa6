package luabind

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// A differentialCase is a program and what PUC Lua 5.1 answers to it. testdata/differential/regenerate.sh makes them.
type differentialCase struct {
	Body   string `json:"body"`
	Answer string `json:"answer"`
}

func readCases(t testing.TB) (frame string, cases []differentialCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/differential/frame.lua")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile("testdata/differential/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(lines) {
		var c differentialCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return string(text), cases
}

func (c differentialCase) program(frame string) string {
	return strings.Replace(frame, "\nBODY\n", "\n"+c.Body+"\n", 1)
}

// answer runs a program in a VM of its own.
func answer(t testing.TB, proto *lua.FunctionProto) string {
	v := newVM(nil, nil)
	defer v.close()
	result, err := v.call(t.Context(), v.L.NewFunctionFromProto(proto))
	if err != nil {
		return "raised: " + err.Error()
	}
	return result.String()
}

// TestLikePUCLua runs programs through compile and a VM; each must answer what PUC Lua 5.1 answers.
func TestLikePUCLua(t *testing.T) {
	t.Parallel()
	frame, cases := readCases(t)
	if len(cases) < 500 {
		t.Fatalf("%d programs, want at least 500", len(cases))
	}
	for i, c := range cases {
		compiled, err := compile("program.lua", []byte(c.program(frame)))
		if err != nil {
			t.Errorf("program %d: %v\n%s", i, err, c.Body)
			continue
		}
		if got := answer(t, compiled.proto); got != c.Answer {
			t.Errorf("program %d:\n%s\n--- got\n%s\n--- want\n%s", i, c.Body, got, c.Answer)
		}
	}
}

// written is how many of the programs show one known fault each; they come first.
const written = 23

// TestFaultsAreReal shows what the repair is for: each written program goes wrong in gopher-lua as it is. One that no longer
// does means that a new version has mended the fault, and that its repair can go.
func TestFaultsAreReal(t *testing.T) {
	t.Parallel()
	frame, cases := readCases(t)
	for i, c := range cases[:written] {
		if got := bareAnswer(t, c.program(frame)); got == c.Answer {
			t.Errorf("program %d answers right without the repair:\n%s", i, c.Body)
		}
	}
}

// bareAnswer is what gopher-lua answers by itself.
func bareAnswer(t *testing.T, program string) string {
	L := lua.NewState()
	defer L.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	L.SetContext(ctx)
	fn, err := L.LoadString(program)
	if err != nil {
		return err.Error()
	}
	L.Push(fn)
	if err := L.PCall(0, 1, nil); err != nil {
		return err.Error()
	}
	return L.Get(-1).String()
}
