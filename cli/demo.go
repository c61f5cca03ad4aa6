package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"luacrawl/cli/demo"
	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/spiders"
)

// demoSite is the made-up site of --demo while it is crawled.
type demoSite struct{ *demo.Site }

// demoSettings let the spider, which is polite by itself, crawl our own site on a loopback address in a moment.
var demoSettings = map[string]string{"allow_private_addresses": "true", "robotstxt_obey": "false", "download_delay": "0.02", "log_level": "warn"}

// demoJob is a fresh crawl of the made-up site, in memory, until nothing is left.
func (p *program) demoJob(c *cli.Context) (*job, error) {
	for _, flag := range []string{"redis", "data", "seed", "a", "set"} {
		if c.IsSet(flag) {
			return nil, usagef("--demo and --%s exclude each other: the demo brings its own spider, site and Redis", flag)
		}
	}
	if c.NArg() > 0 {
		return nil, usagef("--demo takes no spider: it runs its own, spiders/hotnews.lua")
	}
	site, err := demo.Serve()
	if err != nil {
		return nil, fmt.Errorf("demo site: %w", err)
	}
	return &job{
		source: source{
			fsys: spiders.Files, main: "hotnews.lua", display: "spiders/",
			args: map[string]string{"base": site.URL}, layers: host.Layers{Sets: demoSettings},
		},
		where:     where{wait: c.Duration("redis-wait")},
		untilDone: true,
		output:    c.String("output"),
		demo:      &demoSite{site},
	}, nil
}

// show prints items as lines for a person.
func (d *demoSite) show(out io.Writer, items []engine.Item) error {
	for _, item := range items {
		var story struct{ Title, Source, Section string }
		if err := json.Unmarshal(item, &story); err != nil {
			return fmt.Errorf("demo item: %w", err)
		}
		if _, err := fmt.Fprintf(out, "%-9s %s (%s)\n", story.Section, story.Title, story.Source); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}
