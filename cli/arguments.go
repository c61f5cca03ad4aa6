package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/engine"
)

// arrange puts the flags of a command before its arguments, where urfave/cli looks for them: everyone types
// "run FILE --until-done". What follows "--" stays an argument. It also refuses unknown commands and flags, with a
// suggestion, since it has to know which flags take a value anyway; and it turns every way to ask for help into
// the help command.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 || isHelp(args[1]) {
		return []string{args[0], "help"}, nil
	}
	name := args[1]
	if name == "--version" {
		name = "version"
	}
	if strings.HasPrefix(name, "-") {
		return nil, usagef("unknown flag %s: flags come after the command, as in \"luacrawl run FILE --until-done\"", name)
	}
	command := app.Command(name)
	if command == nil {
		return nil, usagef("unknown command %q.%s See \"luacrawl help\"", name, suggestCommand(app.Commands, name))
	}
	path, rest := []string{name}, args[2:]
	if len(command.Subcommands) > 0 {
		if len(rest) == 0 && command.Action == nil || len(rest) > 0 && isHelp(rest[0]) {
			return []string{args[0], "help", name}, nil
		}
		var sub *cli.Command
		if len(rest) > 0 {
			sub = subcommand(command, rest[0])
		}
		switch {
		case sub != nil:
			command, path, rest = sub, append(path, sub.Name), rest[1:]
		case command.Action == nil:
			return nil, usagef("unknown command %q.%s See \"luacrawl %s --help\"", name+" "+rest[0], suggestCommand(command.Subcommands, rest[0]), name)
		}
	}
	flags, positional, err := split(command, strings.Join(path, " "), rest)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(flags, isHelp) {
		return slices.Concat([]string{args[0], "help"}, path), nil
	}
	return slices.Concat(args[:1], path, flags, []string{"--"}, positional), nil
}

// subcommand returns the command of that name within another, or nil.
func subcommand(command *cli.Command, name string) *cli.Command {
	for _, sub := range command.Subcommands {
		if sub.HasName(name) {
			return sub
		}
	}
	return nil
}

func isHelp(arg string) bool { return arg == "--help" || arg == "-h" || arg == "-help" }

// split sorts the arguments of a command into flags with their values and the rest, each in order.
// path is how the command is typed.
func split(command *cli.Command, path string, args []string) (flags, positional []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return flags, append(positional, args[i+1:]...), nil
		case isHelp(arg):
			return []string{arg}, nil, nil
		case !strings.HasPrefix(arg, "-") || arg == "-":
			positional = append(positional, arg)
			continue
		}
		flag := find(command.Flags, arg)
		if flag == nil {
			return nil, nil, usagef("unknown flag %s.%s See \"luacrawl %s --help\"", arg, suggestFlag(command, arg), path)
		}
		flags = append(flags, arg)
		if !takesValue(flag) || strings.Contains(arg, "=") {
			continue
		}
		if i+1 == len(args) || isFlag(command.Flags, args[i+1]) || args[i+1] == "--" {
			return nil, nil, usagef("flag %s needs a value. See \"luacrawl %s --help\"", arg, path)
		}
		i++
		flags = append(flags, args[i])
	}
	return flags, positional, nil
}

// find returns the flag that an argument such as --name or --name=value names, or nil.
func find(flags []cli.Flag, arg string) cli.Flag {
	name := flagName(arg)
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func isFlag(flags []cli.Flag, arg string) bool {
	return isHelp(arg) || strings.HasPrefix(arg, "-") && arg != "-" && find(flags, arg) != nil
}

// flagName is the name in an argument such as -a, --name or --name=value.
func flagName(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	return strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
}

func takesValue(f cli.Flag) bool {
	documented, ok := f.(cli.DocGenerationFlag)
	return ok && documented.TakesValue()
}

// suggestFlag and suggestCommand name what was probably meant; "" when nothing is near.
func suggestFlag(command *cli.Command, arg string) string {
	var names []string
	for _, f := range command.Flags {
		names = append(names, f.Names()...)
	}
	if name := engine.Nearest(flagName(arg), names); len(name) > 1 {
		return fmt.Sprintf(" Did you mean --%s?", name)
	}
	return ""
}

func suggestCommand(commands []*cli.Command, given string) string {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	if name := engine.Nearest(given, names); name != "" {
		return fmt.Sprintf(" Did you mean %q?", name)
	}
	return ""
}
