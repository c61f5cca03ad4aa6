package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"luacrawl/engine/bucket"
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
	for _, sink := range all {
		if err := c.claim(sink); err != nil {
			return nil, mistake(fmt.Errorf("%s: spider.pipelines: %w", c.options.Source, err))
		}
	}
	return all, nil
}

// claim makes a sink this crawl's where there can be only one. One that another crawl has would hold all pages until that one ends. Any
// other trouble is for the crawl to wait out.
func (c *Crawl) claim(sink export.Sink) error {
	claimer, ok := sink.(export.Claimer)
	if !ok {
		return nil
	}
	err := claimer.Claim()
	if taken := (*export.TakenError)(nil); errors.As(err, &taken) {
		return err
	}
	if err == nil {
		c.claims = append(c.claims, claimer)
	}
	return nil
}

// unclaim gives free what the crawl has claimed and not opened: sinks that were opened are closed by the engine.
func (c *Crawl) unclaim() error {
	var errs []error
	for _, claimer := range c.claims {
		errs = append(errs, claimer.Unclaim())
	}
	c.claims = nil
	return errors.Join(errs...)
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
func (c *Crawl) stores() (map[float64]*files.Store, error) {
	all := map[float64]*files.Store{}
	for order, options := range c.options.Spider.Files() {
		store, err := c.store(options)
		if err != nil {
			return nil, mistake(fmt.Errorf("%s: spider.pipelines, files of order %v: %w", c.options.Source, order, err))
		}
		all[order] = store
	}
	return all, nil
}

func (c *Crawl) store(o files.Options) (*files.Store, error) {
	if c.options.Source.Revision != nil {
		if err := confined(map[string]any{"store": o.Store, "endpoint": o.Endpoint}); err != nil {
			return nil, err
		}
	}
	return files.NewStore(o, files.Outside{Spool: filepath.Join(c.spool(), "files"), Env: c.variable})
}

// spool is the folder of this host for files on their way to a bucket.
func (c *Crawl) spool() string {
	return cmp.Or(c.options.Source.Outside.Spool, filepath.Join(os.TempDir(), "luacrawl-spool"))
}

func leadsOut(path string) error {
	return fmt.Errorf("%.200q leads out of the worker's folder, where the files of a pushed spider stay; give a path below it, with no .. in it and no slash at its start", path)
}

func (c *Crawl) sqlSink(options map[string]any) (export.Sink, error) {
	config, err := sqlsink.ParseConfig(options, c.env)
	if err != nil {
		return nil, err
	}
	schema, err := schemaFor(config.Items, c.options.Spider.Schemas())
	if err != nil {
		return nil, err
	}
	return sqlsink.New(config, schema)
}

// schemaFor is the declaration that a table follows. With a single one there is no doubt; the sink then refuses items without it, which it
// would pass over as those of another sink if its items were named.
func schemaFor(items string, schemas map[string]export.Schema) (*export.Schema, error) {
	kinds := slices.Sorted(maps.Keys(schemas))
	if items == "" && len(kinds) == 1 {
		items = kinds[0]
	}
	if items == "" {
		return nil, nil
	}
	declared, ok := schemas[items]
	if !ok {
		return nil, fmt.Errorf("items: spider.items declares no %q; it has %q", items, kinds)
	}
	return &declared, nil
}

func (c *Crawl) feed(ctx context.Context, options map[string]any) (export.FeedConfig, error) {
	feed, err := export.ParseFeed(options)
	if err != nil {
		return feed, err
	}
	if c.options.Source.Revision != nil {
		if err := confined(options); err != nil {
			return feed, err
		}
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
	feed.Spool = c.spool()
	feed.Stdout, feed.Log = c.options.Source.Outside.Stdout, c.options.Voice.Logger
	feed.Env = c.variable
	return feed, nil
}

// confined checks the options of a feed or of files in a spider that was pushed: who may push may not write wherever the worker may, or have its keys of
// a bucket sent elsewhere.
func confined(options map[string]any) error {
	for _, key := range []string{"path", "uri", "store"} {
		path, _ := options[key].(string)
		if path == "" || path == "-" || bucket.IsURI(path) {
			continue
		}
		if !filepath.IsLocal(path) {
			return fmt.Errorf("%s: %w", key, leadsOut(path))
		}
	}
	if endpoint, ok := options["endpoint"]; ok && endpoint != "" {
		return errors.New("endpoint: a pushed spider does not say where the worker's keys of a bucket go; leave it out and set AWS_ENDPOINT_URL_S3 in the worker's environment")
	}
	return nil
}

func (c *Crawl) env(name string) (string, bool) {
	if c.options.Source.Outside.Env == nil {
		return "", false
	}
	return c.options.Source.Outside.Env(name)
}

// variable is env for who takes one that is not set for an empty one.
func (c *Crawl) variable(name string) string {
	if value, ok := c.env(name); ok {
		return value
	}
	return ""
}
