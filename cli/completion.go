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
		return app.ToFishCompletion()
	}
	return "", usagef("no completion for %q: bash, zsh or fish", args[0])
}

// bashCompletion completes the command, its flags where a word begins with -, and files elsewhere.
func bashCompletion(app *cli.App) string {
	var names []string
	var cases strings.Builder
	for _, command := range app.Commands {
		names = append(names, command.Name)
		fmt.Fprintf(&cases, "    %s) words=%q ;;\n", command.Name, strings.Join(flagWords(command), " "))
	}
	return fmt.Sprintf(`_luacrawl() {
  local current="${COMP_WORDS[COMP_CWORD]}" words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W %q -- "$current"))
    return
  fi
  case "$current" in -*) ;; *) return ;; esac
  case "${COMP_WORDS[1]}" in
%s    *) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _luacrawl luacrawl
`, strings.Join(names, " "), cases.String())
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
