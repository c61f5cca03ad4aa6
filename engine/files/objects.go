package files

import (
	"context"
	"errors"
	"io/fs"
	"mime"
	"os"
	"path"
	"strings"
	"time"

	"luacrawl/engine/bucket"
)

const (
	callTime = 20 * time.Second
	noteSize = 64 << 10 // of a note, at most, in bytes
	mostType = 200      // bytes of a Content-Type that a bucket gets
)

// claimed is what a claim holds: not every server takes an empty object.
var claimed = []byte("busy\n")

// objects keeps files in a bucket, each an object below a prefix. They are written in a local folder first, since their names are only known
// when they are whole.
type objects struct {
	bucket  *bucket.Bucket
	prefix  string
	local   string
	calls   time.Duration // that all but an upload may take: a bucket that hangs keeps nobody for longer
	uploads time.Duration
}

// Outside is what a store in a bucket needs of this host.
type Outside struct {
	Spool string                   // a folder for files on their way
	Env   func(name string) string // where bucket.Config finds its variables
}

// openBucket makes the keeper of a store in a bucket.
func openBucket(o Options, outside Outside) (*objects, error) {
	name, prefix, err := parseStore(o.Store)
	if err != nil {
		return nil, err
	}
	if outside.Spool == "" || outside.Env == nil {
		return nil, errors.New("a bucket needs a folder for the files on their way to it, and the environment")
	}
	b, err := bucket.Open(name, bucket.Config{Endpoint: o.Endpoint, Region: o.Region, Env: outside.Env})
	if err != nil {
		return nil, err
	}
	return &objects{bucket: b, prefix: prefix, local: outside.Spool, calls: callTime, uploads: o.Timeout}, nil
}

// parseStore takes the address of a store in a bucket apart.
func parseStore(store string) (name, prefix string, err error) {
	if name, prefix, err = bucket.ParseURI(store); err != nil {
		return "", "", err
	}
	prefix = strings.TrimSuffix(prefix, "/")
	switch {
	case prefix == "":
	case len(prefix) > 800:
		return "", "", errors.New("the bucket's prefix has more than 800 bytes; keys have 1024 at most")
	case prefix != path.Clean(prefix) || strings.HasPrefix(prefix, "..") || prefix[0] == '/' || prefix == ".":
		return "", "", errors.New("the bucket's prefix has empty parts, . or ..; want s3://bucket/prefix")
	}
	return name, prefix, nil
}

func (b *objects) key(name string) string { return path.Join(b.prefix, name) }

func (b *objects) spool() string { return b.local }

// missing gives an error the name that it has for folders.
func missing(err error) error {
	if errors.Is(err, bucket.ErrAbsent) {
		return fs.ErrNotExist
	}
	return err
}

func (b *objects) read(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, b.calls)
	defer cancel()
	content, err := b.bucket.Read(ctx, b.key(name), noteSize)
	return content, missing(err)
}

func (b *objects) stat(ctx context.Context, name string) (bucket.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, b.calls)
	defer cancel()
	object, err := b.bucket.Stat(ctx, b.key(name))
	return object, missing(err)
}

func (b *objects) size(ctx context.Context, name string) (int64, error) {
	object, err := b.stat(ctx, name)
	return object.Size, err
}

// keep uploads a file, unless the same content is there.
func (b *objects) keep(ctx context.Context, from *os.File, e Entry, contentType string) error {
	if err := from.Close(); err != nil {
		return err
	}
	size, err := b.size(ctx, e.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || size != e.Size {
		uploading, cancel := context.WithTimeout(ctx, b.uploads)
		defer cancel()
		err := b.bucket.PutFile(uploading, b.key(e.Path), from.Name(), bucket.PutOptions{Type: cleanType(contentType)})
		if bucket.RefusesObject(err) || err != nil && uploading.Err() != nil && ctx.Err() == nil {
			return &FileError{err}
		}
		if err != nil {
			return err
		}
	}
	_ = os.Remove(from.Name()) // the sweep finds it
	return nil
}

// cleanType is a site's Content-Type as a bucket takes it: one that a bucket refuses would be tried for ever.
func cleanType(contentType string) string {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	clean := mime.FormatMediaType(media, params) // in ASCII
	switch {
	case len(media) > mostType:
		return ""
	case len(clean) > mostType:
		return media
	}
	return clean
}

func (b *objects) write(ctx context.Context, name string, content []byte) error {
	return b.put(ctx, name, content, bucket.PutOptions{Type: "application/json"})
}

func (b *objects) put(ctx context.Context, name string, content []byte, o bucket.PutOptions) error {
	ctx, cancel := context.WithTimeout(ctx, b.calls)
	defer cancel()
	return b.bucket.Put(ctx, b.key(name), content, o)
}

func (b *objects) create(ctx context.Context, name string) error {
	err := b.put(ctx, name, claimed, bucket.PutOptions{IfAbsent: true})
	if errors.Is(err, bucket.ErrTaken) || errors.Is(err, bucket.ErrConflict) {
		return fs.ErrExist
	}
	return err
}

func (b *objects) touched(ctx context.Context, name string) (time.Time, error) {
	object, err := b.stat(ctx, name)
	return object.Modified, err
}

// touch puts the object anew: its time is the bucket's.
func (b *objects) touch(ctx context.Context, name string, _ time.Time) error {
	return b.put(ctx, name, claimed, bucket.PutOptions{})
}

func (b *objects) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, b.calls)
	defer cancel()
	return b.bucket.Remove(ctx, b.key(name))
}
