package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

const pullHelp = `The files of a revision are written into a folder, by default one of the spider's name. Files there that differ are not
overwritten unless --force is given.

Examples:

  luacrawl pull hotnews                 what the fleet runs, into hotnews/
  luacrawl pull 3f9c2a spiders/ --force`

func (p *program) pullCommand() *cli.Command {
	return &cli.Command{
		Name:        "pull",
		Usage:       "write the files of a revision to disk",
		UsageText:   "luacrawl pull SPIDER|REV [FOLDER] [OPTION...]",
		Description: pullHelp,
		Flags: append(registryFlags(),
			&cli.BoolFlag{Name: "force", Usage: "overwrite files that differ", DisableDefaultText: true},
		),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 && c.NArg() != 2 {
				return usagef("pull takes a spider of the fleet or a revision, and maybe a folder")
			}
			return p.onFleet(c, func(ctx context.Context, f *fleet) error {
				r, err := f.revision(ctx, c.Args().First(), "")
				if err != nil {
					return err
				}
				folder := c.Args().Get(1)
				if folder == "" {
					folder = r.Spider
				}
				if err := pull(r, folder, c.Bool("force")); err != nil {
					return err
				}
				f.logs.notice(fmt.Sprintf("revision %s of %s is in %s", short(r.ID), r.Spider, folder))
				return nil
			})
		},
	}
}

// pull writes a revision's files. With a file that differs nothing is written.
func pull(r *scheduler.Revision, folder string, force bool) error {
	paths := slices.Sorted(maps.Keys(r.Files))
	for _, name := range paths {
		have, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("pull: %w", err)
		}
		if err == nil && !force && !bytes.Equal(have, r.Files[name]) {
			return fmt.Errorf("pull: %s differs from revision %s: --force overwrites it", filepath.Join(folder, name), short(r.ID))
		}
	}
	for _, name := range paths {
		to := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("pull: %w", err)
		}
		if err := os.WriteFile(to, r.Files[name], 0o644); err != nil {
			return fmt.Errorf("pull: %w", err)
		}
	}
	return nil
}
