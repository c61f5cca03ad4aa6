package cli

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/scheduler"
)

// Exit codes of the commands.
const (
	exitFinished    = 0
	exitFailed      = 1
	exitUsage       = 2   // wrong usage or spider: running it again changes nothing
	exitInterrupted = 130 // a signal ended it, as shells write 128 + SIGINT
)

// exitError is an error that says how the process ends. Any other error ends it as codeOf says.
type exitError struct {
	code int
	err  error // nil: everything has been said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(err error) error { return &exitError{exitUsage, err} }

func usagef(format string, args ...any) error { return usageError(fmt.Errorf(format, args...)) }

// codeOf finds the exit code of an error.
func codeOf(err error) int {
	var (
		exit     *exitError
		script   *engine.ScriptError
		settings *scheduler.SettingsError
		start    *engine.StartError
		mistake  *host.MistakeError
		urfave   cli.ExitCoder
	)
	switch {
	case err == nil:
		return exitFinished
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &script), errors.As(err, &settings), errors.As(err, &start), errors.As(err, &mistake), errors.As(err, &urfave), errors.Is(err, scheduler.ErrURL):
		return exitUsage
	}
	return exitFailed
}

// exit tells the error, once, and returns the code of the process.
func (p *program) exit(err error) int {
	var said *exitError
	if err != nil && !(errors.As(err, &said) && said.err == nil) {
		fmt.Fprintf(p.screen, "luacrawl: %s\n", explain(err))
	}
	return codeOf(err)
}

// explain is the error and, for a mistake in a script, the way to it.
func explain(err error) string {
	var script *engine.ScriptError
	if errors.As(err, &script) && script.Detail() != "" {
		return err.Error() + "\n" + script.Detail()
	}
	return err.Error()
}
