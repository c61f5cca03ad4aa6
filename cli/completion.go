package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

const completionHelp = `Examples:

  source <(luacrawl completion bash)                                      in ~/.bashrc
  source <(luacrawl completion zsh)                                       in ~/.zshrc, after compinit
  luacrawl completion fish > ~/.config/fish/completions/luacrawl.fish`

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a script that completes commands and flags in a shell",
		UsageText:   "luacrawl completion bash|zsh|fish",
		Description: completionHelp,
		Action: func(c *cli.Context) error {
			script, err := completion(c.App, c.Args().Slice())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(p.Out, script)
			return err
		},
	}
}

func completion(app *cli.App, args []string) (string, error) {
	if len(args) != 1 {
		return "", usagef("completion takes a shell: bash, zsh or fish")
	}
	switch args[0] {
	case "bash":
		return bashCompletion(app), nil
	case "zsh":
		return "autoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(app), nil
	case "fish":
		return fishCompletion(app)
	}
	return "", usagef("no completion for %q: bash, zsh or fish", args[0])
}

// bashCompletion completes the command and what stands below it, flags where a word begins with -, the names of spiders where one
// is due, and files elsewhere.
func bashCompletion(app *cli.App) string {
	var subs, flags strings.Builder
	var spiders, several []string
	var add func(command *cli.Command, path string)
	add = func(command *cli.Command, path string) {
		if len(command.Subcommands) > 0 {
			fmt.Fprintf(&subs, "    %s) subs=%q ;;\n", path, strings.Join(commandWords(command.Subcommands), " "))
			for _, sub := range command.Subcommands {
				add(sub, path+" "+sub.Name)
			}
			if command.Action == nil {
				return
			}
		}
		fmt.Fprintf(&flags, "    %q) words=%q ;;\n", path, strings.Join(flagWords(command), " "))
		switch command.ArgsUsage {
		case spiderOrFile:
			spiders = append(spiders, fmt.Sprintf("%q", path))
		case spidersOrFiles:
			several = append(several, fmt.Sprintf("%q", path))
		}
	}
	for _, command := range app.Commands {
		if !command.Hidden {
			add(command, command.Name)
		}
	}
	return fmt.Sprintf(bashScript, strings.Join(commandWords(app.Commands), " "), subs.String(), strings.Join(spiders, "|"), strings.Join(spiders, "|"), strings.Join(several, "|"), flags.String())
}

const bashScript = `_luacrawl() {
  local current="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}" subs= words= at=2
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W %q -- "$current"))
    return
  fi
  case "$command" in
%s  esac
  if [ -n "$subs" ]; then
    case "$current" in -*) ;; *)
      if [ "$COMP_CWORD" -eq 2 ]; then
        case "$command" in
          %s) subs="$subs $(luacrawl names 2>/dev/null)" ;;
        esac
        COMPREPLY=($(compgen -W "$subs" -- "$current"))
        return
      fi ;;
    esac
    case " $subs " in
      *" ${COMP_WORDS[2]} "*)
        command="$command ${COMP_WORDS[2]}"
        at=3 ;;
    esac
  fi
  case "$current" in
    -*) ;;
    *)
      case "$command" in
        %s)
          if [ "$COMP_CWORD" -eq "$at" ]; then
            COMPREPLY+=($(compgen -W "$(luacrawl names 2>/dev/null)" -- "$current"))
          fi ;;
        %s)
          COMPREPLY=($(compgen -W "$(luacrawl names 2>/dev/null)" -- "$current")) ;;
      esac
      return ;;
  esac
  case "$command" in
%s    *) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _luacrawl luacrawl
`

// fishCompletion is urfave/cli's, with the names of spiders.
func fishCompletion(app *cli.App) (string, error) {
	script, err := app.ToFishCompletion()
	if err != nil {
		return "", err
	}
	for _, command := range app.Commands {
		switch {
		case command.ArgsUsage == spiderOrFile, command.ArgsUsage == spidersOrFiles:
			script += fmt.Sprintf("complete -c luacrawl -n '__fish_seen_subcommand_from %s' -a '(luacrawl names 2>/dev/null)'\n", command.Name)
		case len(command.Subcommands) > 0:
			words := strings.Join(commandWords(command.Subcommands), " ")
			script += fmt.Sprintf("complete -c luacrawl -n '__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s' -a '(luacrawl names 2>/dev/null)'\n", command.Name, words)
		}
	}
	return script, nil
}

// commandWords are the names of commands.
func commandWords(commands []*cli.Command) (words []string) {
	for _, c := range commands {
		if !c.Hidden {
			words = append(words, c.Name)
		}
	}
	return words
}

// flagWords are a command's flags as they are typed.
func flagWords(command *cli.Command) []string {
	words := []string{"--help"}
	for _, f := range command.Flags {
		for _, name := range f.Names() {
			if len(name) == 1 {
				words = append(words, "-"+name)
			} else {
				words = append(words, "--"+name)
			}
		}
	}
	return words
}
