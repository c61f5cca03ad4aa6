package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is where whole files go that are not to stay here: S3 and what speaks like it.
type bucket struct {
	client *minio.Client
	name   string
	host   string
}

// waiting is a whole file in the spool that is not in the bucket yet.
type waiting struct {
	ID    string    `json:"id"` // marks the object, so that after a crash it is known for this file
	File  string    `json:"file"`
	Part  int       `json:"part"`
	Begun time.Time `json:"begun"`
}

const (
	bucketTries = 3 // of one request; after that the sink is down and is tried again
	fileMark    = "Luacrawl-Feed"
)

// validateBucket checks an s3:// URI and what it needs beside it.
func (c FeedConfig) validateBucket() error {
	name, key, _ := strings.Cut(strings.TrimPrefix(c.URI, "s3://"), "/")
	switch {
	case strings.Contains(name, "@") || strings.Contains(name, ":"):
		return fmt.Errorf("holds credentials or a port; they belong into AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and endpoint")
	case name == "" || key == "" || strings.Contains(name, "%"):
		return fmt.Errorf("want s3://bucket/key, the bucket without placeholders")
	case !strings.Contains(key, "%(part)"):
		return fmt.Errorf("objects cannot grow, so that their key needs %%(part)d, as in s3://%s/items-%%(part)d.%s", name, c.Format)
	}
	return nil
}

func parseEndpoint(s string) (*url.URL, error) {
	if s == "" {
		s = "https://s3.amazonaws.com"
	}
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("want http(s)://host:port, without credentials or path")
	}
	return u, nil
}

func newBucket(c FeedConfig) (*bucket, error) {
	if c.Spool == "" {
		return nil, errors.New("a bucket needs a folder for the files on their way to it")
	}
	first := func(values ...string) string {
		for _, value := range values {
			if value != "" {
				return value
			}
		}
		return ""
	}
	endpoint, err := parseEndpoint(first(c.Endpoint, c.Env("AWS_ENDPOINT_URL_S3"), c.Env("AWS_ENDPOINT_URL")))
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	id, secret := c.Env("AWS_ACCESS_KEY_ID"), c.Env("AWS_SECRET_ACCESS_KEY")
	if (id == "") != (secret == "") {
		return nil, errors.New("of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set")
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:      credentials.NewStaticV4(id, secret, c.Env("AWS_SESSION_TOKEN")),
		Secure:     endpoint.Scheme == "https",
		Region:     first(c.Region, c.Env("AWS_REGION"), c.Env("AWS_DEFAULT_REGION"), "us-east-1"),
		MaxRetries: bucketTries,
	})
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", endpoint.Host, err)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(c.URI, "s3://"), "/")
	return &bucket{client: client, name: name, host: endpoint.Host}, nil
}

// check reports a bucket that is not there or does not answer.
func (b *bucket) check(ctx context.Context) error {
	ok, err := b.client.BucketExists(ctx, b.name)
	if err != nil {
		return b.wrap(err)
	}
	if !ok {
		return fmt.Errorf("bucket %s at %s is not there", b.name, b.host)
	}
	return nil
}

func (b *bucket) wrap(err error) error {
	if status := minio.ToErrorResponse(err).StatusCode; status != 0 {
		return fmt.Errorf("bucket %s at %s: %s: %w", b.name, b.host, http.StatusText(status), err)
	}
	return fmt.Errorf("bucket %s at %s: %w", b.name, b.host, err)
}

// upload takes what waits to the bucket, oldest first. What is there stays in the spool until it has arrived.
func (f *fileFeed) upload(ctx context.Context) error {
	for len(f.state.Waiting) > 0 {
		w := f.state.Waiting[0]
		if _, err := os.Lstat(w.File); errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("a file on its way to the bucket is gone", "file", w.File)
		} else if err := f.deliver(ctx, w); err != nil {
			return err
		}
		f.state.Waiting = f.state.Waiting[1:]
		if err := f.note(); err != nil {
			return err
		}
		if err := os.Remove(w.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("a file that is in the bucket cannot be removed here", "file", w.File, "error", err)
		}
	}
	return nil
}

// deliver puts one file under the first free key from its part on. Hosts that share a key pattern take turns so.
func (f *fileFeed) deliver(ctx context.Context, w waiting) error {
	for part := w.Part; ; part++ {
		_, key, _ := strings.Cut(strings.TrimPrefix(f.path.render(w.Begun, part), "s3://"), "/")
		free, err := f.bucket.free(ctx, key, w.ID)
		if err != nil {
			return err
		}
		if free == taken && !f.config.Overwrite {
			continue
		}
		if free != ours {
			err = f.bucket.put(ctx, key, w, f.config)
		}
		if minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed {
			continue // another host was quicker
		}
		if err != nil {
			return f.bucket.wrap(err)
		}
		f.state.Part = max(f.state.Part, part)
		return nil
	}
}

// occupancy is what a key holds.
type occupancy int

const (
	empty occupancy = iota
	taken
	ours // this very file, put there before a crash
)

func (b *bucket) free(ctx context.Context, key, id string) (occupancy, error) {
	info, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	switch {
	case minio.ToErrorResponse(err).StatusCode == http.StatusNotFound:
		return empty, nil
	case err != nil:
		return empty, b.wrap(err)
	case info.UserMetadata[fileMark] == id:
		return ours, nil
	}
	return taken, nil
}

func (b *bucket) put(ctx context.Context, key string, w waiting, c FeedConfig) error {
	opts := minio.PutObjectOptions{
		ContentType:  contentType(c),
		UserMetadata: map[string]string{fileMark: w.ID},
	}
	if !c.Overwrite {
		opts.SetMatchETagExcept("*")
	}
	_, err := b.client.FPutObject(ctx, b.name, key, w.File, opts)
	return err
}

func contentType(c FeedConfig) string {
	switch {
	case c.Compress == "gzip":
		return "application/gzip"
	case c.Compress == "zstd":
		return "application/zstd"
	case c.Format == "csv":
		return "text/csv; charset=utf-8"
	case c.Format == "json":
		return "application/json"
	}
	return "application/x-ndjson"
}
