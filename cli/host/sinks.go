package host

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"luacrawl/engine/database"
	"luacrawl/engine/export"
	"luacrawl/engine/export/sqlsink"
	"luacrawl/engine/files"
)

// Outside is what a spider may reach beside Redis and the sites it crawls.
type Outside struct {
	Env       func(name string) (string, bool) // the variables that it may read by name; nil is none
	Proxy     func(*url.URL) (*url.URL, error) // that the environment names for a page; nil is none
	Databases *database.Pools                  // of the process; nil makes the spider's own
	Stdout    io.Writer                        // of feeds that go to "-"
	Spool     string                           // a folder that outlives the process, for files on their way to a bucket; "" is below the system's own
}

// sinks makes the sinks that the spider's pipelines name. Errors name the pipeline and the key, and are *MistakeError.
func (c *Crawl) sinks(ctx context.Context) ([]export.Sink, error) {
	var all []export.Sink
	var feeds []export.FeedConfig
	for _, config := range c.options.Spider.Sinks() {
		sink, feed, err := c.sink(ctx, config)
		if err != nil {
			return nil, mistake(fmt.Errorf("%s: spider.pipelines, %s of order %v: %w", c.options.Source, config.Name, config.Order, err))
		}
		all = append(all, sink)
		if feed != nil {
			feeds = append(feeds, *feed)
		}
	}
	if err := export.CheckFeeds(feeds); err != nil {
		return nil, mistake(fmt.Errorf("%s: spider.pipelines: %w", c.options.Source, err))
	}
	return all, nil
}

func (c *Crawl) sink(ctx context.Context, config export.SinkConfig) (export.Sink, *export.FeedConfig, error) {
	switch config.Name {
	case "sql":
		sink, err := c.sqlSink(config.Options)
		return sink, nil, err
	case "feed":
		feed, err := c.feed(ctx, config.Options)
		if err != nil {
			return nil, nil, err
		}
		sink, err := export.NewFeed(feed)
		return sink, &feed, err
	}
	return nil, nil, fmt.Errorf("there is no such pipeline")
}

// stores makes the stores of the spider's pipelines of files.
func (c *Crawl) stores() map[float64]*files.Store {
	all := map[float64]*files.Store{}
	for order, options := range c.options.Spider.Files() {
		all[order] = files.NewStore(options)
	}
	return all
}

func (c *Crawl) sqlSink(options map[string]any) (export.Sink, error) {
	config, err := sqlsink.ParseConfig(options, c.env)
	if err != nil {
		return nil, err
	}
	schemas := c.options.Spider.Schemas()
	if config.Items == "" && len(schemas) == 1 { // there is no doubt
		for kind := range schemas {
			config.Items = kind
		}
	}
	var schema *export.Schema
	if config.Items != "" {
		declared, ok := schemas[config.Items]
		if !ok {
			return nil, fmt.Errorf("items: spider.items declares no %q; it has %q", config.Items, slices.Sorted(maps.Keys(schemas)))
		}
		schema = &declared
	}
	return sqlsink.New(config, schema)
}

func (c *Crawl) feed(ctx context.Context, options map[string]any) (export.FeedConfig, error) {
	feed, err := export.ParseFeed(options)
	if err != nil {
		return feed, err
	}
	status, err := c.options.Client.Status(ctx, c.options.Spider.Name(), c.settings.Keys)
	if err != nil {
		return feed, err
	}
	host, _ := os.Hostname()
	feed.Spider, feed.Host = c.options.Spider.Name(), host
	feed.Crawl = strconv.FormatInt(status.Epoch, 10)
	schemas := c.options.Spider.Schemas()
	for _, kind := range slices.Sorted(maps.Keys(schemas)) {
		feed.Schemas = append(feed.Schemas, schemas[kind])
	}
	feed.Spool = c.options.Source.Outside.Spool
	if feed.Spool == "" {
		feed.Spool = filepath.Join(os.TempDir(), "luacrawl-spool")
	}
	feed.Stdout, feed.Log = c.options.Source.Outside.Stdout, c.options.Voice.Logger
	feed.Env = func(name string) string { value, _ := c.env(name); return value }
	return feed, nil
}

func (c *Crawl) env(name string) (string, bool) {
	if c.options.Source.Outside.Env == nil {
		return "", false
	}
	return c.options.Source.Outside.Env(name)
}
