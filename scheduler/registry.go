package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Policy says on which code requests that an older revision made are finished.
type Policy string

// Policies of a push.
const (
	Adopt     Policy = "adopt"      // the new revision takes all over
	FinishOld Policy = "finish-old" // each request is finished by the revision that made it
)

// Entry is what the fleet runs of a spider.
type Entry struct {
	Spider   string    `json:"-"`
	Version  int64     `json:"-"`        // of the registry when it was changed last: a change names the one that it was made of
	State    State     `json:"-"`        // that the spider is to be in
	Revision string    `json:"revision"` // ID of the current revision
	Main     string    `json:"main"`     // the spider's file
	Policy   Policy    `json:"policy,omitempty"`
	Author   string    `json:"author,omitempty"`
	Message  string    `json:"message,omitempty"`
	Time     time.Time `json:"time"`
}

// ConflictError says that somebody else has changed an entry since it was read.
type ConflictError struct {
	Spider string
	Now    *Entry // as it is; nil when there is none
}

func (e *ConflictError) Error() string {
	if e.Now == nil {
		return fmt.Sprintf("spider %s was removed from the fleet in the meantime: nothing was changed", e.Spider)
	}
	by := e.Now.Author
	if by == "" {
		by = "somebody"
	}
	return fmt.Sprintf("%s has pushed revision %s of spider %s in the meantime (%s): nothing was changed; look at it (luacrawl diff), then push again",
		by, ShortRevision(e.Now.Revision), e.Spider, e.Now.Time.Format(time.RFC3339))
}

// DamagedEntryError is an entry that cannot be read. A change of it names its Version, as of any other.
type DamagedEntryError struct {
	Place   string // key and field
	Version int64  // 0 when that cannot be read either
	Why     string
}

func (e *DamagedEntryError) Error() string {
	return e.Place + ": " + e.Why + ": push the spider again, or remove it"
}

// ErrNoEntry says that the fleet knows no spider of a name.
var ErrNoEntry = errors.New("the fleet has no spider of this name")

// ErrNoRevision says that there is no such revision.
var ErrNoRevision = errors.New("there is no such revision")

// Registry reads what the fleet runs, by spider.
func (c *Client) Registry(ctx context.Context) ([]Entry, error) {
	k := c.registry()
	var entries, states *redis.MapStringStringCmd
	err := c.try(ctx, func() error {
		_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			entries, states = p.HGetAll(ctx, k.registry()), p.HGetAll(ctx, k.states())
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the registry: %w", c.explainRegistry(ctx, "", err))
	}
	return c.readEntries(entries.Val(), states.Val())
}

// readEntries reads the registry, by spider; the error names the entries that somebody has spoilt.
func (c *Client) readEntries(entries, states map[string]string) ([]Entry, error) {
	var all []Entry
	var damaged []error
	for spider, raw := range entries {
		e, err := c.readEntry(spider, raw)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		e.State = readState(states[spider])
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Spider, b.Spider) })
	return all, errors.Join(damaged...)
}

// RegistryEntry reads what the fleet runs of one spider. ErrNoEntry says that it knows none of the name, *DamagedEntryError that it cannot
// be read.
func (c *Client) RegistryEntry(ctx context.Context, spider string) (Entry, error) {
	k := c.registry()
	var entry, state *redis.StringCmd
	err := c.try(ctx, func() error {
		_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			entry, state = p.HGet(ctx, k.registry(), spider), p.HGet(ctx, k.states(), spider)
			return nil
		})
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	})
	switch {
	case err != nil:
		return Entry{}, fmt.Errorf("reading the registry: %w", c.explainRegistry(ctx, "", err))
	case entry.Err() != nil:
		return Entry{}, fmt.Errorf("spider %q: %w", spider, ErrNoEntry)
	}
	e, err := c.readEntry(spider, entry.Val())
	if err != nil {
		return Entry{}, err
	}
	e.State = readState(state.Val())
	return e, nil
}

// versionForm is that of a version that flip.lua reads too.
var versionForm = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)

// readEntry reads "<version> <JSON>". Its errors are *DamagedEntryError.
func (c *Client) readEntry(spider, raw string) (Entry, error) {
	e := Entry{Spider: spider}
	version, text, both := strings.Cut(raw, " ")
	damaged := &DamagedEntryError{Place: fmt.Sprintf("%s, field %s", c.registry().registry(), spider), Why: "it is no entry of the registry"}
	if !both || !versionForm.MatchString(version) {
		return e, damaged
	}
	e.Version, _ = strconv.ParseInt(version, 10, 64) // its form fits
	damaged.Version = e.Version
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		damaged.Why += fmt.Sprintf(" (%v)", err)
		return e, damaged
	}
	if len(e.Revision) < shortRevision {
		damaged.Why = "it names no revision"
		return e, damaged
	}
	if e.Policy == "" {
		e.Policy = Adopt
	}
	return e, nil
}

// Flip makes e what the fleet runs of e.Spider, if its entry is still of version was; 0 says that there must be none. The revision must
// be there already (PutRevision). It returns the entry's new version. *ConflictError says that somebody was faster,
// ErrNoRevision that the revision is not there. what is for the history: push or rollback.
func (c *Client) Flip(ctx context.Context, e Entry, was int64, what string) (int64, error) {
	if !nameForm.MatchString(e.Spider) {
		return 0, fmt.Errorf("spider name %.100q: it is 1 to 64 of the characters A-Z a-z 0-9 _ . -", e.Spider)
	}
	if e.Policy != Adopt && e.Policy != FinishOld && e.Policy != "" {
		return 0, fmt.Errorf("policy %q: it is %s or %s", e.Policy, Adopt, FinishOld)
	}
	text, err := json.Marshal(e)
	if err != nil {
		return 0, fmt.Errorf("entry of %s: %w", e.Spider, err)
	}
	event := Event{What: what, Time: e.Time, Author: e.Author, Message: e.Message, Revision: e.Revision, Policy: e.Policy}
	return c.flip(ctx, e.Spider, e.Revision, was, string(text), event)
}

// Remove takes a spider out of the registry, if its entry is still of version was: workers end it. Its queue, items and revisions stay.
func (c *Client) Remove(ctx context.Context, spider string, was int64, author string) error {
	_, err := c.flip(ctx, spider, "", was, "", Event{What: "remove", Time: time.Now(), Author: author})
	return err
}

// flip is tried again only when it cannot have been done: a reply that was lost is found in the registry.
func (c *Client) flip(ctx context.Context, spider, revision string, was int64, entry string, event Event) (int64, error) {
	k, lost := c.registry(), false
	keys := k.list(c.keysOf(Keys{}, spider), spider, revision)
	var r answer
	err := c.try(ctx, func() error {
		v, err := flipScript.call(ctx, c.rdb, keys, spider, was, entry, event.text(), k.changes()).Result()
		lost = lost || err != nil && !unsent(err) && !noScript(err)
		r = readAnswer(v)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("changing the registry: %w", c.explainRegistry(ctx, spider, c.explain(ctx, c.keysOf(Keys{}, spider), err)))
	}
	switch r.text(0) {
	case "OK":
		return r.num(1), nil
	case "MISSING":
		return 0, fmt.Errorf("revision %s of %s: %w", ShortRevision(revision), spider, ErrNoRevision)
	}
	version, text, _ := strings.Cut(r.text(1), " ")
	if lost && entry == "" && r.text(1) == "" { // our own removal, whose reply did not come
		return 0, nil
	}
	if lost && entry != "" && text == entry { // our own change
		n, err := strconv.ParseInt(version, 10, 64)
		return n, err
	}
	conflict := &ConflictError{Spider: spider}
	if now, err := c.readEntry(spider, r.text(1)); err == nil {
		conflict.Now = &now
	}
	return 0, conflict
}

// explainRegistry names the key of the registry that holds another type; spider is the one whose history was written, "" when none was.
func (c *Client) explainRegistry(ctx context.Context, spider string, err error) error {
	if err == nil || !wrongType(err) {
		return err
	}
	k := c.registry()
	for key, want := range map[string]string{
		k.registry(): "hash", k.states(): "hash", k.version(): "string", k.workers(): "zset", k.reports(): "hash", k.log(spider): "list",
	} {
		got, e := c.rdb.Type(ctx, key).Result()
		if e == nil && got != "none" && got != want {
			return &wrongTypeError{key: key, got: got, want: "a " + want}
		}
	}
	return fmt.Errorf("%w: %w", ErrWrongType, err)
}
