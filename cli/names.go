package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"
)

const (
	namesWait        = 300 * time.Millisecond // a person waits for the completion
	largeSnapshot    = 8 << 20                // bytes; reading more takes longer than that
	snapshotFileName = "snapshot"
)

// namesCommand prints the spiders that have run or were pushed on the Redis that a command would work on: shells complete by it.
func (p *program) namesCommand() *cli.Command {
	return &cli.Command{
		Name:      "names",
		Usage:     "print the names of the spiders that have run or were pushed",
		UsageText: "luacrawl names [OPTION...]",
		Hidden:    true,
		Flags:     placeFlags(),
		Action: func(c *cli.Context) (err error) {
			l, err := newLogs(p.screen, c)
			if err != nil {
				return err
			}
			w := p.where(c)
			w.wait = namesWait
			if info, err := os.Stat(filepath.Join(w.dir, snapshotFileName)); w.url == "" && err == nil && info.Size() > largeSnapshot {
				return nil
			}
			redis, err := w.look(c.Context, l)
			if err != nil {
				return err
			}
			defer func() { err = firstError(err, redis.close()) }()
			names, err := redis.names(c.Context)
			for _, name := range names {
				fmt.Fprintln(p.Out, name)
			}
			return err
		},
	}
}
