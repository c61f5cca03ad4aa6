// Package bucket is where files go that are not to stay on this host: S3 and what speaks like it.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// tries of one request, with pauses of up to a second. After that it is for who has asked to try again.
const tries = 3

var (
	// ErrAbsent says that there is no such object.
	ErrAbsent = errors.New("there is no such object")
	// ErrTaken says that an object is there that was to be put only where there is none.
	ErrTaken = errors.New("there is such an object")
	// ErrConflict says that an object that was to be put only where there is none is just being put.
	ErrConflict = errors.New("the object is being put")
)

// Config says where a bucket is and who we are there.
type Config struct {
	Endpoint, Region string // "" takes AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and AWS_REGION, AWS_DEFAULT_REGION
	// Env gives values of the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and those above.
	Env func(string) string
}

// Bucket is a bucket. Its errors name it and where it is; credentials are in none.
type Bucket struct {
	client *minio.Client
	name   string
	host   string
}

// Open asks nobody anything; it fails for what is wrong with the configuration.
func Open(name string, c Config) (*Bucket, error) {
	endpoint, err := parseEndpoint(cmp.Or(c.Endpoint, c.Env("AWS_ENDPOINT_URL_S3"), c.Env("AWS_ENDPOINT_URL")))
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
		Region:     cmp.Or(c.Region, c.Env("AWS_REGION"), c.Env("AWS_DEFAULT_REGION"), "us-east-1"),
		MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", endpoint.Host, err)
	}
	return &Bucket{client: client, name: name, host: endpoint.Host}, nil
}

// Check reports a bucket that is not there or does not answer.
func (b *Bucket) Check(ctx context.Context) error {
	ok, err := b.client.BucketExists(ctx, b.name)
	if err != nil {
		return b.wrap(err)
	}
	if !ok {
		return b.absent()
	}
	return nil
}

func (b *Bucket) absent() error { return fmt.Errorf("bucket %s at %s is not there", b.name, b.host) }

func (b *Bucket) wrap(err error) error {
	answer := minio.ToErrorResponse(err)
	switch {
	case answer.Code == minio.NoSuchBucket:
		return b.absent()
	case answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("bucket %s at %s: Forbidden: the credentials are wrong, or may not read, write and list there: %w", b.name, b.host, err)
	case answer.StatusCode != 0:
		return fmt.Errorf("bucket %s at %s: %s: %w", b.name, b.host, http.StatusText(answer.StatusCode), err)
	}
	return fmt.Errorf("bucket %s at %s: %w", b.name, b.host, err)
}

// RefusesObject reports whether an error is the bucket's no to one object, which it will say again. No credentials (401, 403), no such
// bucket or upload (404), a request that took too long (408) and too many of them (429) are no such answers.
func RefusesObject(err error) bool {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) || answer.StatusCode < 400 || answer.StatusCode > 499 {
		return false
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return true
}

// Object is what is known of an object.
type Object struct {
	Size     int64     // bytes
	Modified time.Time // by the bucket's clock, to the second
	Mark     string    // that it was put with
}

// Stat looks at an object. The error may be ErrAbsent, also of a bucket that is not there: the answer does not tell the two apart.
func (b *Bucket) Stat(ctx context.Context, key string) (Object, error) {
	info, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	switch {
	case err == nil:
		return Object{Size: info.Size, Modified: info.LastModified, Mark: info.UserMetadata[markName]}, nil
	case minio.ToErrorResponse(err).StatusCode == http.StatusNotFound:
		return Object{}, ErrAbsent
	}
	return Object{}, b.wrap(err)
}

// Read gives the first most bytes of an object. The error may be ErrAbsent.
func (b *Bucket) Read(ctx context.Context, key string, most int64) ([]byte, error) {
	core := minio.Core{Client: b.client}
	body, _, _, err := core.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	switch {
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return nil, ErrAbsent
	case err != nil:
		return nil, b.wrap(err)
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, most))
	if err != nil {
		return nil, b.wrap(err)
	}
	return content, nil
}

// markName is the metadata that holds an object's mark.
const markName = "Luacrawl-Feed"

// PutOptions say how an object is put.
type PutOptions struct {
	Type     string // Content-Type; "" is application/octet-stream
	Mark     string // by which who has put it knows it again
	IfAbsent bool   // only where there is none
}

func (o PutOptions) minio() minio.PutObjectOptions {
	to := minio.PutObjectOptions{ContentType: cmp.Or(o.Type, "application/octet-stream")}
	if o.Mark != "" {
		to.UserMetadata = map[string]string{markName: o.Mark}
	}
	if o.IfAbsent {
		to.SetMatchETagExcept("*")
	}
	return to
}

// PutFile puts a file of this host, a large one in pieces. It is read as it goes, and never held in memory. With IfAbsent the error may be
// ErrTaken or ErrConflict.
func (b *Bucket) PutFile(ctx context.Context, key, path string, o PutOptions) error {
	return b.put(ctx, key, o, func(o minio.PutObjectOptions) error {
		_, err := b.client.FPutObject(ctx, b.name, key, path, o)
		return err
	})
}

// Put puts a few bytes; its errors are PutFile's.
func (b *Bucket) Put(ctx context.Context, key string, content []byte, o PutOptions) error {
	return b.put(ctx, key, o, func(o minio.PutObjectOptions) error {
		_, err := b.client.PutObject(ctx, b.name, key, bytes.NewReader(content), int64(len(content)), o)
		return err
	})
}

func (b *Bucket) put(ctx context.Context, key string, o PutOptions, send func(minio.PutObjectOptions) error) error {
	err := send(o.minio())
	if err == nil {
		return nil
	}
	answer := minio.ToErrorResponse(err)
	switch {
	case o.IfAbsent && answer.StatusCode == http.StatusNotImplemented: // a server that knows no conditions: a look is nearly as good
		o.IfAbsent = false
		if _, err := b.Stat(ctx, key); !errors.Is(err, ErrAbsent) {
			return cmp.Or(err, ErrTaken)
		}
		return b.put(ctx, key, o, send)
	case o.IfAbsent && answer.StatusCode == http.StatusPreconditionFailed:
		return ErrTaken
	case o.IfAbsent && answer.StatusCode == http.StatusConflict:
		return fmt.Errorf("%w: %w", ErrConflict, b.wrap(err))
	}
	return b.wrap(err)
}

// Remove removes an object; one that is not there is no error.
func (b *Bucket) Remove(ctx context.Context, key string) error {
	if err := b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}); err != nil {
		return b.wrap(err)
	}
	return nil
}
