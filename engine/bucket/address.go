package bucket

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

const scheme = "s3://"

// IsURI reports whether a place is a bucket's and no folder's.
func IsURI(place string) bool { return strings.HasPrefix(place, scheme) }

// ParseURI takes s3://bucket/key apart. The key may be "".
func ParseURI(uri string) (name, key string, err error) {
	name, key, _ = strings.Cut(strings.TrimPrefix(uri, scheme), "/")
	switch {
	case strings.Contains(name, "@") || strings.Contains(name, ":"):
		return "", "", errors.New("holds credentials or a port; they belong into AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and endpoint")
	case name == "" || strings.Contains(name, "%"):
		return "", "", errors.New("want s3://bucket/key, the bucket without placeholders")
	case !utf8.ValidString(key):
		return "", "", errors.New("keys are UTF-8, and this one is not")
	}
	if err := s3utils.CheckValidBucketName(name); err != nil {
		return "", "", fmt.Errorf("%q is no bucket's name: %w", name, err)
	}
	return name, key, nil
}

// CheckEndpoint reports what is wrong with an endpoint; "" is S3's own.
func CheckEndpoint(s string) error {
	_, err := parseEndpoint(s)
	return err
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
