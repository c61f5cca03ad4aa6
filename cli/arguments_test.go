package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// newProgram is a program whose streams are buffers.
func newProgram(environ ...string) (*program, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	sys := System{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &err}, Environ: environ, Worker: "test:1"}
	return &program{System: sys, screen: newScreen(sys.Err, nil)}, &out, &err
}

func TestArrange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"", "help"},
		{"--help", "help"},
		{"--version", "version --"},
		{"run x.lua", "run -- x.lua"},
		{"run x.lua --until-done", "run --until-done -- x.lua"},
		{"run x.lua --redis redis://h --until-done -a n=1 -a m=2", "run --redis redis://h --until-done -a n=1 -a m=2 -- x.lua"},
		{"run --redis=redis://h x.lua", "run --redis=redis://h -- x.lua"},
		{"run x.lua -o -", "run -o - -- x.lua"},
		{"run --set a=-1 x.lua", "run --set a=-1 -- x.lua"},
		{"run -v -- --odd.lua", "run -v -- --odd.lua"},
		{"run x.lua -- -y", "run -- x.lua -y"},
		{"seed x.lua - --redis u", "seed --redis u -- x.lua -"},
		{"run x.lua --help --redis", "help run"},
		{"run --redis u -h", "help run"},
		{"status -- --help", "status -- --help"},
	} {
		p, _, _ := newProgram()
		got, err := arrange(p.app(), append([]string{"luacrawl"}, strings.Fields(test.args)...))
		if err != nil {
			t.Errorf("%q: %v", test.args, err)
			continue
		}
		if want := append([]string{"luacrawl"}, strings.Fields(test.want)...); !slices.Equal(got, want) {
			t.Errorf("%q became %q, want %q", test.args, got, want)
		}
	}
}

func TestArrangeRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"rum x.lua", `unknown command "rum". Did you mean "run"?`},
		{"qqqqqq", `unknown command "qqqqqq". See`},
		{"run x.lua --outptu f", "unknown flag --outptu. Did you mean --output?"},
		{"run x.lua --zzzzzzzz", `unknown flag --zzzzzzzz. See "luacrawl run --help"`},
		{"run x.lua --redis", "flag --redis needs a value"},
		{"run x.lua --redis -q", "flag --redis needs a value"},
		{"run x.lua --redis -- y", "flag --redis needs a value"},
		{"-q run x.lua", "flags come after the command"},
		{"status --fresh", "unknown flag --fresh"},
	} {
		p, _, _ := newProgram()
		_, err := arrange(p.app(), append([]string{"luacrawl"}, strings.Fields(test.args)...))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.args, err, test.want)
		}
		if code := codeOf(err); code != exitUsage {
			t.Errorf("%q: exit code %d", test.args, code)
		}
	}
}

// parsed gives what read makes of a command's flags.
func parsed[T any](t *testing.T, p *program, args string, read func(*cli.Context) T) (got T) {
	t.Helper()
	app := p.app()
	line, err := arrange(app, append([]string{"luacrawl"}, strings.Fields(args)...))
	if err != nil {
		t.Fatal(err)
	}
	app.Command(line[1]).Action = func(c *cli.Context) error {
		got = read(c)
		return nil
	}
	if err := app.Run(line); err != nil {
		t.Fatal(err)
	}
	return got
}

// The values of a repeatable flag are whole: a comma belongs to a URL.
func TestSeedsKeepTheirCommas(t *testing.T) {
	t.Parallel()
	p, _, _ := newProgram()
	got := parsed(t, p, "run x.lua --seed http://a/?x=1,2 --seed b", func(c *cli.Context) []string { return c.StringSlice("seed") })
	if !slices.Equal(got, []string{"http://a/?x=1,2", "b"}) {
		t.Errorf("seeds %q", got)
	}
}
