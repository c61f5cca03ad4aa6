// Package cli is the command line: one file a command. It alone touches arguments, environment, terminal and signals.
package cli

import (
	"io"
	"slices"

	"github.com/urfave/cli/v2"
)

// Main runs the command named in args (args[0] is the program) and returns its exit code:
// 0 finished, 1 failed, 2 wrong usage or spider, 130 interrupted. A failure is told on sys.Err.
func Main(args []string, sys System) int {
	p := &program{System: sys, screen: newScreen(sys.Err, sys.Columns)}
	app := p.app()
	args, err := arrange(app, args)
	if err == nil {
		err = app.Run(args)
	}
	return p.exit(err)
}

// program is one run of the command line.
type program struct {
	System
	screen *screen // what writes to Err, so that log lines and the live line keep apart
}

// app declares the commands. urfave/cli parses, lists and explains them; errors come back to Main.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:        "luacrawl",
		Usage:       "a distributed crawler whose spiders are Lua files",
		UsageText:   "luacrawl COMMAND [OPTION...] [ARGUMENT...]",
		Description: "Try it without a network and without a Redis:\n\n  luacrawl run --demo",
		Commands: slices.Concat([]*cli.Command{
			p.runCommand(), p.workerCommand(), p.checkCommand(), p.seedCommand(), p.statusCommand(), p.topCommand(), p.workersCommand(),
			p.pushCommand(), p.spidersCommand(), p.logCommand(), p.showCommand(), p.diffCommand(), p.pullCommand(), p.rollbackCommand(), p.removeCommand(),
		}, p.controlCommands(), []*cli.Command{
			p.setCommand(), p.slotsCommand(), p.purgeCommand(), p.itemsCommand(), p.deadCommand(), p.seenCommand(), p.flushCommand(),
			p.versionCommand(), p.completionCommand(), p.namesCommand(), helpCommand(),
		}),
		Reader:                    p.In,
		Writer:                    p.Out,
		ErrWriter:                 p.screen,
		HideVersion:               true,
		HideHelp:                  true, // arrange turns --help into the help command
		DisableSliceFlagSeparator: true, // a comma belongs to the URL
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsageError,
	}
	adopt(app.Commands)
	app.Setup()
	return app
}

// adopt makes commands leave help and mistakes to us.
func adopt(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError, c.HideHelp = onUsageError, true
		adopt(c.Subcommands)
	}
}

func onUsageError(_ *cli.Context, err error, _ bool) error { return usageError(err) }

// Streams are the three standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}
