// Package files keeps the files of items: where they lie, what is known of them, and which are taken.
package files

import (
	"fmt"
	"maps"
	"math"
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"luacrawl/engine/bucket"
)

// Defaults of Options, Scrapy's where it has one.
const (
	defaultMaxSize = 1 << 30
	defaultExpires = 90 * 24 * time.Hour
	defaultTimeout = 10 * time.Minute
)

// Options are a pipeline of files.
type Options struct {
	Store    string        // the folder, made when it is not there; or s3://bucket/prefix
	Endpoint string        // of a bucket, as in bucket.Config
	Region   string        // of a bucket
	URLs     string        // field of an item that lists the URLs; "file_urls"
	Result   string        // field that gets what became of them; "files"
	MaxSize  int64         // of one file, in bytes; 1 GB
	Types    []string      // media types that are taken, as "image/*" or "application/pdf"; none is all
	Expires  time.Duration // after which a file that is known is fetched again; 90 days
	Timeout  time.Duration // of one download, and of an upload; 10 min
}

// Keys are the keys of the pipeline's table in a spider, beside order.
var Keys = []string{"endpoint", "expires", "max_size", "region", "result_field", "store", "timeout", "types", "urls_field"}

var (
	byteUnits = map[string]float64{"B": 1, "K": 1 << 10, "KB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "G": 1 << 30, "GB": 1 << 30}
	timeUnits = map[string]float64{"MS": 0.001, "S": 1, "M": 60, "H": 3600, "D": 86400}
)

// ParseOptions reads the pipeline's table: text, numbers and []any, as
//
//	{ store = "downloads", max_size = "100MB", types = { "image/*" }, expires = "90d", timeout = "10m", urls_field = "file_urls", result_field = "files" }
//
// A number of expires is days, as in Scrapy's FILES_EXPIRES, one of timeout seconds. Errors name the key.
func ParseOptions(table map[string]any) (Options, error) {
	o := Options{URLs: "file_urls", Result: "files", MaxSize: defaultMaxSize, Expires: defaultExpires, Timeout: defaultTimeout}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if err := o.set(key, table[key]); err != nil {
			return o, fmt.Errorf("files: %s: %w", key, err)
		}
	}
	switch {
	case o.Store == "":
		return o, fmt.Errorf("files: store is missing; name the folder or the bucket that takes the files: { \"files\", order = 100, store = \"downloads\" }")
	case o.URLs == o.Result:
		return o, fmt.Errorf("files: urls_field and result_field are both %q", o.URLs)
	case !bucket.IsURI(o.Store) && o.Endpoint+o.Region != "":
		return o, fmt.Errorf("files: endpoint and region are a bucket's, and store is the folder %q; want store = \"s3://bucket/prefix\"", o.Store)
	}
	return o, nil
}

func (o *Options) set(key string, value any) (err error) {
	switch key {
	case "store":
		if o.Store, err = text(value); err == nil {
			err = checkStore(o.Store)
		}
	case "endpoint":
		if o.Endpoint, err = text(value); err == nil {
			err = bucket.CheckEndpoint(o.Endpoint)
		}
	case "region":
		o.Region, err = text(value)
	case "urls_field":
		o.URLs, err = text(value)
	case "result_field":
		o.Result, err = text(value)
	case "max_size":
		var n float64
		n, err = amount(value, byteUnits, 1, 1, 1<<50)
		o.MaxSize = int64(n)
	case "timeout":
		o.Timeout, err = duration(value, 1, time.Second)
	case "expires":
		o.Expires, err = duration(value, 86400, time.Second)
	case "types":
		o.Types, err = mediaTypes(value)
	default:
		err = fmt.Errorf("there is no such key; known are %s", strings.Join(Keys, ", "))
	}
	return err
}

func checkStore(store string) error {
	if bucket.IsURI(store) {
		_, _, err := parseStore(store)
		return err
	}
	if scheme, _, ok := strings.Cut(store, "://"); ok {
		return fmt.Errorf("want a folder, which hosts may share, or s3://bucket/prefix, not %.20q", scheme+"://")
	}
	return nil
}

func text(value any) (string, error) {
	s, ok := value.(string)
	if !ok || s == "" || len(s) > 1000 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return "", fmt.Errorf("want text without control characters, got %v", value)
	}
	return s, nil
}

// amount reads a number, or text of a number with a unit. plain is what a number alone counts.
func amount(value any, units map[string]float64, plain, least, most float64) (float64, error) {
	n, ok := value.(float64)
	n *= plain
	if s, isText := value.(string); isText {
		s = strings.ToUpper(strings.TrimSpace(s))
		digits := strings.TrimRightFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' || r == ' ' })
		unit, known := units[s[len(digits):]]
		var err error
		if n, err = strconv.ParseFloat(digits, 64); err == nil {
			ok = known || s == digits
			if n *= plain; known {
				n *= unit / plain
			}
		}
	}
	if !ok || math.IsNaN(n) || n < least || n > most {
		return 0, fmt.Errorf("want a number, or one with a unit (%s), got %v", strings.ToLower(strings.Join(slices.Sorted(maps.Keys(units)), ", ")), value)
	}
	return n, nil
}

func duration(value any, plain float64, least time.Duration) (time.Duration, error) {
	seconds, err := amount(value, timeUnits, plain, least.Seconds(), 1e9)
	return time.Duration(seconds * float64(time.Second)), err
}

func mediaTypes(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var all []string
	for _, entry := range list {
		s, _ := entry.(string)
		s = strings.ToLower(strings.TrimSpace(s))
		if _, err := path.Match(s, ""); err != nil || strings.Count(s, "/") != 1 {
			return nil, fmt.Errorf("%v is no media type; write { \"image/*\", \"application/pdf\" }", entry)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the list is empty, so no file would be taken; leave it out to take all")
	}
	return all, nil
}

// Takes reports whether a file of this Content-Type is taken.
func (o *Options) Takes(contentType string) bool {
	if len(o.Types) == 0 {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(o.Types, func(pattern string) bool {
		ok, _ := path.Match(pattern, media) // ParseOptions has checked the pattern
		return ok
	})
}
