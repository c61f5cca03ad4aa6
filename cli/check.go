package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"luacrawl/engine"
	"luacrawl/luabind"
)

const checkHelp = `It compiles and loads each spider as run does, and looks through it and the modules that it requires for what would fail
only later: unknown keys and settings, callbacks that do not exist, names that nothing defines. Nothing is fetched, and no
Redis is needed. Each mistake is a line FILE:LINE: MESSAGE.

Exit codes: 0 all is well, 2 something is not.

Examples:

  luacrawl check spiders/blog.lua
  luacrawl check spiders/*.lua --json`

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "look for mistakes in spiders without running them",
		UsageText:   "luacrawl check FILE... [OPTION...]",
		Description: checkHelp,
		Flags:       slices.Concat(spiderFlags(), []cli.Flag{jsonFlag()}),
		Action:      p.check,
	}
}

func (p *program) check(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("check takes spiders, as in \"luacrawl check spiders/blog.lua\"")
	}
	found := []luabind.Finding{} // never null in JSON
	for _, file := range c.Args().Slice() {
		one, err := p.checkFile(c, file)
		if err != nil {
			return err
		}
		found = append(found, one.Findings...)
		if c.Bool("json") {
			continue
		}
		if err := p.printChecked(file, one); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		if err := p.printJSON(found); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		return &exitError{code: exitUsage}
	}
	return nil
}

// checkFile checks one spider. The layers outside of it are checked too: run would refuse them.
func (p *program) checkFile(c *cli.Context, file string) (luabind.Checked, error) {
	src, err := p.source(c, file)
	if err != nil {
		return luabind.Checked{}, err
	}
	if _, err := src.layers.Merge(file, nil); err != nil {
		return luabind.Checked{}, err
	}
	return luabind.Check(src.fsys, src.main, src.display, luabind.Options{Args: src.args, Memory: engine.DefaultSettings().CallbackMemory}), nil
}

func (p *program) printChecked(file string, c luabind.Checked) error {
	for _, f := range c.Findings {
		if _, err := fmt.Fprintln(p.Out, f); err != nil {
			return err
		}
	}
	if len(c.Findings) > 0 {
		return nil
	}
	_, err := fmt.Fprintf(p.Out, "%s: good (%s, revision %s)\n", filepath.ToSlash(file), c.Name, short(c.Revision))
	return err
}
