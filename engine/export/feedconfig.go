package export

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"luacrawl/engine/bucket"
)

// FeedConfig says where one feed of items goes and how it looks. ParseFeed fills the user's part of it; the crawl fills the rest.
type FeedConfig struct {
	// Name is how messages call the feed; "" makes one of format and URI.
	Name string
	// URI is a path, s3://bucket/key, or "-" for standard output. It may hold %(spider)s, %(host)s, %(time)s (when the file was
	// begun, UTC) and %(part)d (counts from 1; %(part)04d pads); %% is a percent sign.
	URI string
	// Format is jsonl, json (one array) or csv; "" goes by the ending of the URI and is else jsonl.
	Format string
	// Compress is gzip, zstd or none; "" goes by the ending of the URI (.gz, .zst).
	Compress string
	// Fields are the columns or keys that are written, in this order; none means all.
	Fields []FeedField
	// Kinds are the declarations whose items are taken; none means all. "" stands for items without a declaration.
	Kinds []string
	// RotateSize (bytes in the file), RotateCount (items) and RotateEvery end a file and begin the next; 0 is never. A compressed file may
	// be 256 KB larger. Each needs %(part)d in the URI. A bucket's files are rotated at 128 MB unless something else is said.
	RotateSize  int64
	RotateCount int
	RotateEvery time.Duration
	// GuardFormulas puts ' before text in csv that a spreadsheet would run.
	GuardFormulas bool
	// Overwrite lets a new crawl replace the file of another, in one step at its end. Without it a crawl adds to the feed's own
	// file, and refuses a file of somebody else.
	Overwrite bool
	// Endpoint and Region of a bucket; "" takes AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and AWS_REGION, AWS_DEFAULT_REGION.
	Endpoint, Region string

	// Spider and Host go into the URI.
	Spider, Host string
	// Crawl names the crawl: the same after a restart, another once it has begun anew (so that its items are no repeats). "" takes a clean Close for
	// the end of a crawl.
	Crawl string
	// Schemas are the spider's declarations, from which the header of a csv comes.
	Schemas []Schema
	// Spool is a local folder in which files for a bucket are written before they go there. It must outlive a crash.
	Spool string
	// Stdout is where URI "-" goes.
	Stdout io.Writer
	// Env gives values of the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and those above.
	Env func(string) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Log takes warnings; nil drops them.
	Log *slog.Logger
}

// FeedField is one field of the items that a feed writes, under the name As if that is not "".
type FeedField struct{ Name, As string }

// title is the name of the field in the file.
func (f FeedField) title() string {
	if f.As != "" {
		return f.As
	}
	return f.Name
}

const bucketRotateSize = 128 << 20

// withDefaults fills in what follows from the rest.
func (c FeedConfig) withDefaults() FeedConfig {
	ending := strings.ToLower(filepath.Ext(c.URI))
	inner := ending
	if ending == ".gz" || ending == ".zst" {
		inner = strings.ToLower(filepath.Ext(c.URI[:len(c.URI)-len(ending)]))
	}
	if c.Compress == "" {
		c.Compress = map[string]string{".gz": "gzip", ".zst": "zstd"}[ending]
	}
	if c.Compress == "none" {
		c.Compress = ""
	}
	if c.Format == "" {
		c.Format = "jsonl"
		if inner == ".json" || inner == ".csv" {
			c.Format = inner[1:]
		}
	}
	if c.Name == "" {
		c.Name = c.Format + " feed " + redact(c.URI)
	}
	if c.isBucket() && c.RotateSize == 0 && c.RotateCount == 0 && c.RotateEvery == 0 {
		c.RotateSize = bucketRotateSize
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Env == nil {
		c.Env = func(string) string { return "" }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c FeedConfig) isBucket() bool { return bucket.IsURI(c.URI) }
func (c FeedConfig) isStdout() bool { return c.URI == "-" }
func (c FeedConfig) rotates() bool {
	return c.RotateSize > 0 || c.RotateCount > 0 || c.RotateEvery > 0
}

// Validate reports the first thing that is wrong, by the key of the feed's table.
func (c FeedConfig) Validate() error {
	c = c.withDefaults()
	wrong := func(key, format string, args ...any) error {
		return fmt.Errorf("feed %q: %s: %s", redact(c.URI), key, fmt.Sprintf(format, args...))
	}
	switch {
	case c.URI == "":
		return fmt.Errorf(`feed: uri: missing; give a path, s3://bucket/key, or "-" for standard output`)
	case !slices.Contains([]string{"jsonl", "json", "csv"}, c.Format):
		return wrong("format", "want jsonl, json or csv, got %q", c.Format)
	case !slices.Contains([]string{"", "gzip", "zstd"}, c.Compress):
		return wrong("compress", "want gzip, zstd or none, got %q", c.Compress)
	case c.RotateSize < 0 || c.RotateCount < 0 || c.RotateEvery < 0:
		return wrong("rotate", "must not be negative")
	case c.GuardFormulas && c.Format != "csv":
		return wrong("guard_formulas", "is for csv only, and the format is %s", c.Format)
	}
	if err := c.validateURI(); err != nil {
		return wrong("uri", "%v", err)
	}
	if err := bucket.CheckEndpoint(c.Endpoint); err != nil {
		return wrong("endpoint", "%v", err)
	}
	seen := map[string]bool{}
	for _, field := range c.Fields {
		if field.Name == "" {
			return wrong("fields", "a field without a name")
		}
		if seen[field.title()] {
			return wrong("fields", "%q is there twice", field.title())
		}
		seen[field.title()] = true
	}
	return nil
}

func (c FeedConfig) validateURI() error {
	if c.isStdout() {
		if c.rotates() {
			return fmt.Errorf("standard output cannot be rotated; take the rotate options out or write to a file")
		}
		return nil
	}
	scheme, _, ok := strings.Cut(c.URI, "://")
	if ok && scheme != "s3" {
		return fmt.Errorf("want a path, s3://bucket/key or -, not %s://", scheme)
	}
	path, err := parseFeedPath(c.URI)
	if err != nil {
		return err
	}
	if strings.HasSuffix(c.URI, "/") {
		return fmt.Errorf("is a folder; name a file in it")
	}
	if c.isBucket() {
		return c.validateBucket()
	}
	if c.rotates() && !path.has("part") {
		return fmt.Errorf("rotated files need %%(part)d in their name, as in items-%%(part)d.%s", c.Format)
	}
	return nil
}

// CheckFeeds reports two feeds that write to the same file, naming both.
func CheckFeeds(feeds []FeedConfig) error {
	taken := map[string]string{}
	for _, c := range feeds {
		c = c.withDefaults()
		where, err := c.where()
		if err != nil {
			return err
		}
		if other, ok := taken[where]; ok {
			return fmt.Errorf("feeds %q and %q both write to %s; give each its own path", other, c.Name, where)
		}
		taken[where] = c.Name
	}
	return nil
}

// where is the same for feeds that would write to the same files.
func (c FeedConfig) where() (string, error) {
	switch {
	case c.isStdout():
		return "standard output", nil
	case c.isBucket():
		path, err := parseFeedPath(c.URI)
		if err != nil {
			return "", err
		}
		return path.fix(c.Spider, c.Host).String(), nil
	}
	path, err := parseFeedPath(c.URI)
	if err != nil {
		return "", err
	}
	return path.fix(c.Spider, c.Host).absolute()
}
