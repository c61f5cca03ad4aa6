package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"luacrawl/scheduler"
)

// slotOptions are what can be said of a single site, by their names in Scrapy's DOWNLOAD_SLOTS.
var slotOptions = map[string]func(r *scheduler.SlotRule, v any) error{
	"delay": func(r *scheduler.SlotRule, v any) error {
		var s Settings
		err := duration(func(s *Settings) *time.Duration { return &s.DownloadDelay }, 0, day)(&s, v)
		d := (s.DownloadDelay + time.Millisecond - 1).Truncate(time.Millisecond)
		r.Delay = &d
		return err
	},
	"concurrency": func(r *scheduler.SlotRule, v any) error {
		var s Settings
		err := count(func(s *Settings) *int { return &s.ConcurrentRequestsPerDomain }, 1, 10_000)(&s, v)
		r.Concurrency = s.ConcurrentRequestsPerDomain
		return err
	},
	"randomize_delay": func(r *scheduler.SlotRule, v any) error {
		var s Settings
		err := flag(func(s *Settings) *bool { return &s.RandomizeDownloadDelay })(&s, v)
		r.Randomize = &s.RandomizeDownloadDelay
		return err
	},
}

// SlotOptions are the names of what can be said of a single site.
func SlotOptions() []string { return slices.Sorted(maps.Keys(slotOptions)) }

// SetSlotOption takes one value into a rule: a number, true or false, or a word of a command line.
func SetSlotOption(r *scheduler.SlotRule, name string, value any) error {
	set := slotOptions[name]
	if set == nil {
		if near := Nearest(name, SlotOptions()); near != "" {
			return fmt.Errorf("unknown %q: did you mean %q?", name, near)
		}
		return fmt.Errorf("unknown %q: a site has %s", name, strings.Join(SlotOptions(), ", "))
	}
	if err := set(r, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// downloadSlots reads a table of sites and what holds for each, or the same as a JSON object.
func downloadSlots(s *Settings, v any) error {
	if text, ok := v.(string); ok {
		v = nil
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return errors.New(`want a table of sites, as JSON here: {"example.com": {"delay": 2, "concurrency": 1}}`)
		}
	}
	table, ok := v.(map[string]any)
	if !ok {
		return errors.New(`want a table of sites: { ["example.com"] = { delay = 2, concurrency = 1 } }`)
	}
	rules := map[string]scheduler.SlotRule{}
	for _, word := range slices.Sorted(maps.Keys(table)) {
		slot, err := scheduler.SlotName(word)
		if err != nil {
			return err
		}
		values, ok := table[word].(map[string]any)
		if !ok {
			return fmt.Errorf("%q: want a table: { delay = 2, concurrency = 1 }, got %v", word, table[word])
		}
		rule, twice := rules[slot]
		if twice {
			return fmt.Errorf("%q is named twice", slot)
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if err := SetSlotOption(&rule, name, values[name]); err != nil {
				return fmt.Errorf("%q: %w", word, err)
			}
		}
		rules[slot] = rule
	}
	s.DownloadSlots = scheduler.NewSlotRules(rules)
	return nil
}
