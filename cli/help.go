package cli

import (
	"github.com/urfave/cli/v2"
)

// helpCommand replaces urfave/cli's own, which is one value shared by all apps of a process.
func helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "explain luacrawl, or one of its commands",
		ArgsUsage: "[COMMAND [SUBCOMMAND]]",
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return cli.ShowAppHelp(c)
			}
			name := c.Args().First()
			command := c.App.Command(name)
			if command == nil {
				return usagef("unknown command %q.%s See \"luacrawl help\"", name, suggestCommand(c.App.Commands, name))
			}
			if sub := c.Args().Get(1); sub != "" {
				if command = subcommand(command, sub); command == nil {
					return usagef("unknown command %q. See \"luacrawl help %s\"", name+" "+sub, name)
				}
			}
			template := cli.CommandHelpTemplate
			if len(command.Subcommands) > 0 {
				template = cli.SubcommandHelpTemplate
			}
			cli.HelpPrinter(c.App.Writer, template, command)
			return nil
		},
	}
}
