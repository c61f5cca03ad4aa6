package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"luacrawl/scheduler/weburl"
)

// SlotRule is what holds in one slot in place of what holds in all of them. A field that says nothing leaves it as it is.
type SlotRule struct {
	Delay       *time.Duration // between two starts, in whole milliseconds
	Concurrency int            // requests in flight; 0 says nothing
	Randomize   *bool          // the delay is up to half as much again
}

// SlotRules are the rules of a spider's file, as JSON that is the same for equal rules: slot -> delay (seconds), concurrency,
// randomize_delay. "" is none.
type SlotRules string

// wireRule is a SlotRule in SlotRules, with Scrapy's names in DOWNLOAD_SLOTS.
type wireRule struct {
	Concurrency int      `json:"concurrency,omitempty"`
	Delay       *float64 `json:"delay,omitempty"`
	Randomize   *bool    `json:"randomize_delay,omitempty"`
}

// NewSlotRules makes them of rules by slot, whose names SlotName has given.
func NewSlotRules(rules map[string]SlotRule) SlotRules {
	wires := map[string]wireRule{}
	for slot, rule := range rules {
		w := wireRule{Concurrency: rule.Concurrency, Randomize: rule.Randomize}
		if rule.Delay != nil {
			seconds := float64(rule.Delay.Milliseconds()) / 1000
			w.Delay = &seconds
		}
		if w != (wireRule{}) {
			wires[slot] = w
		}
	}
	if len(wires) == 0 {
		return ""
	}
	b, err := json.Marshal(wires)
	if err != nil { // of numbers and UTF-8: it cannot fail
		return ""
	}
	return SlotRules(b)
}

// SlotName is the slot that a person means: a host in any case, with a scheme's own port or without, as slots are called, or a name that
// requests were given. The error says what to write instead.
func SlotName(word string) (string, error) {
	word = strings.TrimSpace(word)
	if strings.Contains(word, "://") {
		host := "example.com"
		if u, err := weburl.Parse(word); err == nil && weburl.Host(u) != "" {
			host = weburl.Host(u)
		}
		return "", fmt.Errorf("%.200q is a URL: write the host alone, %q", word, host)
	}
	if word == "" {
		return "", fmt.Errorf("the name of the site is empty")
	}
	if !strings.ContainsAny(word, "/?#@\\ \t\r\n%") {
		if u, err := weburl.Parse("http://" + strings.TrimSuffix(word, ":443") + "/"); err == nil {
			return slotName(weburl.Host(u)), nil
		}
	}
	if strings.Contains(word, "/") {
		return "", fmt.Errorf("%.200q has a path: write the host alone", word)
	}
	return slotName(strings.ToLower(strings.ToValidUTF8(word, "\uFFFD"))), nil
}

// SlotChange is what people say live of one slot. It goes before the spider's file; the crawl-delay of robots.txt is kept all the same.
type SlotChange struct {
	Slot   string            // as SlotName gives it
	Values map[string]string // delay, concurrency, randomize_delay -> as they were written; "" takes one back
	Rule   SlotRule          // the values of those that are set
	Author string
}

// SlotChanged is what has become of a SlotChange.
type SlotChanged struct {
	Changed bool          // something is another now
	Known   bool          // requests of the slot have come already
	Robots  time.Duration // crawl-delay of its robots.txt, as far as it is known
}

// SetSlot changes what people say live of a slot: it holds in the whole fleet from the next lease on.
func (c *Client) SetSlot(ctx context.Context, spider string, keys Keys, change SlotChange) (SlotChanged, error) {
	if err := checkSpider(spider); err != nil {
		return SlotChanged{}, err
	}
	event := Event{What: "slot", Time: time.Now(), Author: change.Author, Slot: change.Slot, Settings: change.Values}
	k := c.registry()
	args := append([]any{spider, event.text(), k.changes(), change.Slot}, change.words()...)
	var v any
	err := c.try(ctx, func() (err error) { // done twice it is the same
		v, err = ruleScript.call(ctx, c.rdb, k.list(c.keysOf(keys, spider), spider, ""), args...).Result()
		return err
	})
	if err != nil {
		return SlotChanged{}, fmt.Errorf("setting %s of %s: %w", change.Slot, spider, c.explainRegistry(ctx, spider, c.explain(ctx, c.keysOf(keys, spider), err)))
	}
	r := readAnswer(v)
	done := SlotChanged{Changed: r.num(0) > 0, Known: r.num(1) == 1, Robots: robotsDelay(r.text(3))}
	return done, r.err
}

// words are the change as scripts/slotrule.lua reads it.
func (s *SlotChange) words() (args []any) {
	for name, value := range s.Values {
		switch {
		case name == "delay" && value != "":
			args = append(args, "ld", s.Rule.Delay.Milliseconds())
		case name == "delay":
			args = append(args, "ld", "")
		case name == "concurrency" && value != "":
			args = append(args, "lc", s.Rule.Concurrency)
		case name == "concurrency":
			args = append(args, "lc", "")
		case name == "randomize_delay" && value != "":
			args = append(args, "lj", flag(*s.Rule.Randomize))
		case name == "randomize_delay":
			args = append(args, "lj", "")
		}
	}
	return args
}

// robotsDelay is the crawl-delay in a rule of parts/rules.lua.
func robotsDelay(rule string) time.Duration {
	for word := range strings.FieldsSeq(rule) {
		if ms, err := strconv.ParseInt(strings.TrimPrefix(word, "r"), 10, 64); err == nil && word[0] == 'r' {
			return milliseconds(ms)
		}
	}
	return 0
}
