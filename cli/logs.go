package cli

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/cli/host"
)

// logFlags say how a command logs.
func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log-format", Value: "text", Usage: "`FORMAT` of what goes to standard error, text or json; with json it is one JSON object a line"},
		&cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Usage: "log everything (log_level debug)", DisableDefaultText: true},
		&cli.BoolFlag{Name: "q", Aliases: []string{"quiet"}, Usage: "only warnings and errors: no progress, no summary", DisableDefaultText: true},
	}
}

// logs is where a command tells what it does.
type logs struct {
	*slog.Logger
	out   io.Writer
	level *slog.LevelVar
	json  bool
	quiet bool
	fixed bool   // -v or -q: the setting log_level does not count
	name  string // of the spider that speaks, "" when there is one only
}

func newLogs(out io.Writer, c *cli.Context) (*logs, error) {
	l := &logs{out: out, level: new(slog.LevelVar), quiet: c.Bool("q"), fixed: c.Bool("q") || c.Bool("v")}
	if c.Bool("q") && c.Bool("v") {
		return nil, usagef("-v and -q exclude each other")
	}
	if c.Bool("q") {
		l.level.Set(slog.LevelWarn)
	}
	if c.Bool("v") {
		l.level.Set(slog.LevelDebug)
	}
	options := &slog.HandlerOptions{Level: l.level}
	switch format := c.String("log-format"); format {
	case "text", "": // a command without the flag
		l.Logger = slog.New(newTextHandler(out, options))
	case "json":
		l.json = true
		l.Logger = slog.New(slog.NewJSONHandler(out, options))
	default:
		return nil, usagef("--log-format %q: use text or json", format)
	}
	return l, nil
}

// of are the logs of one spider among others in this process: it has its own log_level, and what it says begins with its name.
func (l *logs) of(spider string) *logs {
	level := new(slog.LevelVar)
	level.Set(l.level.Level())
	named := *l
	named.level, named.name = level, spider
	named.Logger = slog.New(leveled{l.Handler(), level}).With("spider", spider)
	return &named
}

// leveled is a handler with a level of its own. The one below lets everything pass.
type leveled struct {
	slog.Handler
	level slog.Leveler
}

func (h leveled) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

func (h leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attrs), h.level}
}

func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.level}
}

// voice is how what runs speaks through l.
func (l *logs) voice() host.Voice {
	return host.Voice{Logger: l.Logger, Notice: l.notice, Alarm: l.alarm, SetLevel: l.setLevel, Explain: explain}
}

// setLevel takes the setting log_level, unless a flag has said something already.
func (l *logs) setLevel(name string) error {
	if l.fixed || name == "" {
		return nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(name))); err != nil {
		return usagef("log_level %q: use debug, info, warn or error", name)
	}
	l.level.Set(level)
	return nil
}

// alarm says something that a person has to act on, also with -q.
func (l *logs) alarm(line string) {
	if l.json {
		l.Error(line)
		return
	}
	io.WriteString(l.out, l.named(line)+"\n")
}

// named puts the speaker before a line.
func (l *logs) named(line string) string {
	if l.name == "" {
		return line
	}
	return l.name + ": " + line
}

// notice says something that a person at the command line should read: a plain line, or a log record with --log-format json.
func (l *logs) notice(line string) {
	switch {
	case l.quiet:
	case l.json:
		l.Info(line)
	default:
		io.WriteString(l.out, l.named(line)+"\n")
	}
}
