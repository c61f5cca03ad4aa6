package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"luacrawl/scheduler"
)

// leastPrefix is how many hex digits a person gives at least to name a revision.
const leastPrefix = 4

// revision finds what REV names: a file on disk, a spider of the fleet (its current revision), or a revision by its ID or the first digits
// of it. within, unless it is "", is the spider whose history is looked through; else all are.
func (f *fleet) revision(ctx context.Context, rev, within string) (*scheduler.Revision, error) {
	if filepath.Ext(rev) == ".lua" {
		folder, main := filepath.Split(filepath.Clean(rev))
		if folder == "" {
			folder = "."
		}
		if _, err := os.Stat(rev); err != nil {
			return nil, usagef("no spider %s: %w", rev, err)
		}
		one, err := newPushable(folder, main)
		return one.revision, err
	}
	if entry, err := f.RegistryEntry(ctx, rev); err == nil && within == "" {
		return f.Revision(ctx, entry.Revision)
	} else if err != nil && !errors.Is(err, scheduler.ErrNoEntry) {
		return nil, err
	}
	id, err := f.resolve(ctx, rev, within)
	if err != nil {
		return nil, err
	}
	return f.Revision(ctx, id)
}

// resolve completes the ID of a revision.
func (f *fleet) resolve(ctx context.Context, rev, within string) (string, error) {
	rev = strings.ToLower(rev)
	if len(rev) < leastPrefix || strings.Trim(rev, "0123456789abcdef") != "" {
		return "", usagef("%q is no spider of the fleet and no revision: a revision is named by 4 or more hex digits (luacrawl log SPIDER lists them)", rev)
	}
	spiders := []string{within}
	if within == "" {
		entries, err := f.Registry(ctx)
		if err != nil {
			return "", err
		}
		spiders = nil
		for _, e := range entries {
			spiders = append(spiders, e.Spider)
		}
	}
	var ids []string
	for _, spider := range spiders {
		events, err := f.History(ctx, spider)
		if err != nil {
			return "", err
		}
		for _, e := range events {
			if strings.HasPrefix(e.Revision, rev) && !slices.Contains(ids, e.Revision) {
				ids = append(ids, e.Revision)
			}
		}
	}
	switch {
	case len(ids) == 1:
		return ids[0], nil
	case len(ids) > 1:
		return "", usagef("revision %s is ambiguous: %s", rev, strings.Join(shorts(ids), ", "))
	case within == "" && len(rev) >= 12: // of a spider that was removed
		return rev, nil
	case within != "":
		return "", fmt.Errorf("spider %s: revision %s: %w (luacrawl log %s lists them)", within, rev, scheduler.ErrNoRevision, within)
	}
	return "", fmt.Errorf("revision %s: %w", rev, scheduler.ErrNoRevision)
}

func shorts(ids []string) []string {
	list := make([]string, 0, len(ids))
	for _, id := range ids {
		list = append(list, short(id))
	}
	return list
}
