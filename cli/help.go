package cli

import (
	"github.com/urfave/cli/v2"
)

// helpCommand replaces urfave/cli's own, which is one value shared by all apps of a process.
func helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "explain luacrawl, or one of its commands",
		ArgsUsage: "[COMMAND]",
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return cli.ShowAppHelp(c)
			}
			name := c.Args().First()
			if c.App.Command(name) == nil {
				return usagef("unknown command %q.%s See \"luacrawl help\"", name, suggestCommand(c.App, name))
			}
			return cli.ShowCommandHelp(c, name)
		},
	}
}
