package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
)

// letterFilter chooses dead letters.
type letterFilter struct {
	indices, ids                          []string // as they were typed; any of them
	reason, callback, url, revision, kind string
	limit                                 int
}

func letterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "reason", Usage: "only letters with this `REASON`: callback_error, download_error, lease_attempts ..."},
		&cli.StringFlag{Name: "callback", Usage: "only requests for this `CALLBACK`"},
		&cli.StringFlag{Name: "url", Usage: "only letters whose URL or seed holds `TEXT`; with a * in it, those that are like it as a whole, * being any characters"},
		&cli.StringFlag{Name: "revision", Usage: "only letters of this `REVISION` of the spider, or of one that begins so"},
		&cli.StringFlag{Name: "kind", Usage: "only letters about a `KIND`: request, seed or item"},
		&cli.IntFlag{Name: "limit", Usage: "at most `N` letters, the oldest first"},
	}
}

// newLetterFilter reads the flags and the letters that are named behind the spider, by index or ID.
func newLetterFilter(c *cli.Context) (*letterFilter, error) {
	f := &letterFilter{
		reason: c.String("reason"), callback: c.String("callback"), url: c.String("url"), revision: c.String("revision"),
		kind: c.String("kind"), limit: c.Int("limit"),
	}
	kinds := []string{"", scheduler.DeadRequest, scheduler.DeadSeed, scheduler.DeadItem}
	if !slices.Contains(kinds, f.kind) {
		return nil, usagef("--kind %q: it is request, seed or item", f.kind)
	}
	if f.limit < 0 || c.IsSet("limit") && f.limit == 0 {
		return nil, usagef("--limit %d: it is 1 or more", f.limit)
	}
	for _, arg := range c.Args().Tail() {
		n, err := strconv.ParseInt(arg, 10, 64)
		switch {
		case err == nil && n > 0 && len(arg) < 10:
			f.indices = append(f.indices, strconv.FormatInt(n, 10))
		case isID(arg):
			f.ids = append(f.ids, arg)
		default:
			return nil, usagef("%q is no dead letter: give its number or its id, as \"luacrawl dead list\" shows them", arg)
		}
	}
	return f, nil
}

// isID reports 12 hex digits.
func isID(s string) bool {
	return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == ""
}

// named reports that the letters were named one by one.
func (f *letterFilter) named() bool { return len(f.indices)+len(f.ids) > 0 }

// match reports whether a letter is one of those; limit is left to the caller.
func (f *letterFilter) match(l *scheduler.Letter) bool {
	if f.named() && !slices.Contains(f.ids, l.ID) && !slices.Contains(f.indices, strconv.FormatInt(l.Index, 10)) {
		return false
	}
	return equalOrAny(f.reason, l.Reason) && equalOrAny(f.callback, callbackOf(l)) && equalOrAny(f.kind, l.Kind) &&
		strings.HasPrefix(l.Revision, f.revision) && (f.url == "" || like(f.url, subject(l)))
}

func equalOrAny(want, got string) bool { return want == "" || want == got }

// callbackOf is the callback of a letter about a request, which leaves the default one out.
func callbackOf(l *scheduler.Letter) string {
	if l.Callback == "" && l.Kind == scheduler.DeadRequest {
		return "parse"
	}
	return l.Callback
}

// subject is what a letter is about: a URL, or a seed.
func subject(l *scheduler.Letter) string {
	switch {
	case l.URL != "":
		return l.URL
	case l.SeedB64 != nil:
		return string(l.SeedB64)
	}
	return l.Seed
}

// like matches a whole text against a pattern in which * is any characters; without one, text has to hold it.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return strings.Contains(text, pattern)
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return strings.HasSuffix(text, last)
}

// each calls do with the letters of a crawl that match, up to the limit. Those that were named must all be there.
func (f *letterFilter) each(ctx context.Context, t *target, do func(*scheduler.Letter) error) error {
	n, found := 0, map[string]bool{}
	for l, err := range t.client.Letters(ctx, t.Spider, t.Keys) {
		if err != nil {
			return err
		}
		if !f.match(&l) {
			continue
		}
		if f.named() {
			found[l.ID], found[strconv.FormatInt(l.Index, 10)] = true, true
		}
		if err := do(&l); err != nil {
			return err
		}
		if n++; n == f.limit {
			return nil
		}
	}
	for _, name := range slices.Concat(f.indices, f.ids) {
		if !found[name] {
			return fmt.Errorf("there is no dead letter %s of %s, or it does not match", name, t)
		}
	}
	return nil
}
