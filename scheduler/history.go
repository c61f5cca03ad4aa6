package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Event is one line of a spider's history.
type Event struct {
	Version  int64             `json:"-"`    // of the registry after it
	What     string            `json:"what"` // push, rollback, remove, control, slot, flush, purge
	Time     time.Time         `json:"time"` // by the clock of who did it
	Author   string            `json:"author,omitempty"`
	Message  string            `json:"message,omitempty"`
	Revision string            `json:"revision,omitempty"`
	Policy   Policy            `json:"policy,omitempty"`
	State    State             `json:"state,omitempty"`
	Slot     string            `json:"slot,omitempty"`     // that Settings are of; "" for the whole spider
	Settings map[string]string `json:"settings,omitempty"` // set live; "" is one that was taken back
}

func (e Event) text() string {
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	b, err := json.Marshal(e)
	if err != nil { // of strings and a time: it cannot fail
		return "{}"
	}
	return string(b)
}

// record runs a script that writes an event into the spider's history: behind its own arguments it gets the spider, the event and the
// channel. Should a reply be lost, the event may stand there twice.
func (c *Client) record(ctx context.Context, k keyset, spider string, e Event, s *script, args ...any) (answer, error) {
	registry := c.registry()
	args = append(args, spider, e.text(), registry.changes())
	var v any
	err := c.try(ctx, func() (err error) {
		v, err = s.call(ctx, c.rdb, registry.list(k, spider, ""), args...).Result()
		return err
	})
	return readAnswer(v), c.explainRegistry(ctx, spider, c.explain(ctx, k, err))
}

// History reads what has been done to a spider, the newest last; 1000 events are kept, and of more the oldest without a revision goes
// first. Lines that somebody has spoilt are left out.
func (c *Client) History(ctx context.Context, spider string) ([]Event, error) {
	lines, err := c.list(ctx, c.registry().log(spider), 0, -1)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", spider, err)
	}
	events := make([]Event, 0, len(lines))
	for _, line := range lines {
		version, text, _ := strings.Cut(line, " ")
		var e Event
		n, err := strconv.ParseInt(version, 10, 64)
		if err == nil && json.Unmarshal([]byte(text), &e) == nil {
			e.Version = n
			events = append(events, e)
		}
	}
	return events, nil
}
