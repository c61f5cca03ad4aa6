package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"luacrawl/engine/bucket"
)

// waiting is a whole file in the spool that is not in the bucket yet.
type waiting struct {
	ID    string    `json:"id"` // marks the object, so that after a crash it is known for this file
	File  string    `json:"file"`
	Part  int       `json:"part"`
	Begun time.Time `json:"begun"`
}

// validateBucket checks an s3:// URI and what it needs beside it.
func (c FeedConfig) validateBucket() error {
	name, key, err := bucket.ParseURI(c.URI)
	switch {
	case err != nil:
		return err
	case key == "":
		return fmt.Errorf("want s3://bucket/key, the bucket without placeholders")
	case !strings.Contains(key, "%(part)"):
		return fmt.Errorf("objects cannot grow, so that their key needs %%(part)d, as in s3://%s/items-%%(part)d.%s", name, c.Format)
	}
	return nil
}

func (c FeedConfig) openBucket() (*bucket.Bucket, error) {
	if c.Spool == "" {
		return nil, errors.New("a bucket needs a folder for the files on their way to it")
	}
	name, _, err := bucket.ParseURI(c.URI)
	if err != nil {
		return nil, err
	}
	return bucket.Open(name, bucket.Config{Endpoint: c.Endpoint, Region: c.Region, Env: c.Env})
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
		_, key, err := bucket.ParseURI(f.path.render(w.Begun, part))
		if err != nil {
			return err
		}
		arrived, err := f.deliverAs(ctx, w, key)
		if err != nil {
			return err
		}
		if arrived {
			f.state.Part = max(f.state.Part, part)
			return nil
		}
	}
}

// deliverAs puts a file under a key. It reports false when another file is there.
func (f *fileFeed) deliverAs(ctx context.Context, w waiting, key string) (arrived bool, err error) {
	there, arrived, err := f.look(ctx, w, key)
	if err != nil || arrived {
		return arrived, err
	}
	if there && !f.config.Overwrite {
		return false, nil
	}
	err = f.bucket.PutFile(ctx, key, w.File, bucket.PutOptions{Type: contentType(f.config), Mark: w.ID, IfAbsent: !f.config.Overwrite})
	if errors.Is(err, bucket.ErrTaken) { // by a host that was quicker, or by this very upload: its answer was lost, and it was tried again
		_, arrived, err = f.look(ctx, w, key)
		return arrived, err
	}
	return err == nil, err
}

// look says whether something is under a key, and whether it is this very file: put there before a crash, or by an upload without an answer.
func (f *fileFeed) look(ctx context.Context, w waiting, key string) (there, arrived bool, err error) {
	object, err := f.bucket.Stat(ctx, key)
	if errors.Is(err, bucket.ErrAbsent) {
		return false, false, nil
	}
	return err == nil, err == nil && object.Mark == w.ID, err
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
