package engine

import (
	"errors"
	"maps"
	"reflect"
	"slices"
)

// liveSettings are looked at anew for each page or step, so an edit of them can be in effect at once. The others shape what was made at
// the start: the frontier, the downloader.
var liveSettings = []string{
	"concurrent_requests", "redis_batch_size", "retry_times", "retry_http_codes", "retry_priority_adjust", "backoff_http_codes", "redirect_max_times", "referer_enabled", "referrer_policy", "cookies_enabled", "cookies_debug", "depth_limit", "urllength_limit", "handle_httpstatus_list", "handle_httpstatus_all",
	"callback_timeout", "log_level", "max_idle_time", "closespider_pagecount", "closespider_itemcount", "closespider_errorcount", "item_meta",
}

// SetSettings puts settings into effect for pages that are begun from now on. Only those that SettingDocs calls live matter. It may be
// called at any time.
func (c *Crawl) SetSettings(s Settings) { c.settings.Store(&s) }

// ChangedSettings are the names whose values differ in effect between two layers of the same kind, in the order of the names: a value
// that is written in another way ("5s", 5), or that is the default, is no change.
func ChangedSettings(before, after map[string]any) []string {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, after)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool {
		return reflect.DeepEqual(alone(name, before), alone(name, after))
	})
}

// alone are the default settings with one value of a layer. A value that is wrong leaves the default: the layer was refused already.
func alone(name string, layer map[string]any) Settings {
	s := DefaultSettings()
	if value, given := layer[name]; given {
		_ = s.Apply("", map[string]any{name: value})
	}
	return s
}

// CheckSetting says what is wrong with a setting's name or value, nil when nothing is.
func CheckSetting(name string, value any) error {
	def := findSetting(name)
	if def == nil {
		return unknownSetting(name)
	}
	s := DefaultSettings()
	if err := def.set(&s, value); err != nil {
		return badSetting(name, err)
	}
	return s.Validate()
}

// liveFleet are the settings that Redis keeps for a whole crawl, beside liveSettings: they can be set while it runs, though an edit of the
// spider's file holds from the next start on.
var liveFleet = []string{"download_delay", "randomize_download_delay", "concurrent_requests_per_domain", "concurrent_requests_total", "closespider_pagecount_per_slot"}

// LiveSettings are the names that can be set for a whole fleet while it runs, in the order of the table.
func LiveSettings() []string {
	var names []string
	for _, d := range settingTable {
		if isLive(d.name) {
			names = append(names, d.name)
		}
	}
	return names
}

func isLive(name string) bool {
	return slices.Contains(liveSettings, name) || slices.Contains(liveFleet, name)
}

// CheckLive says why a setting cannot be set for a whole fleet while it runs: it is unknown, its value is wrong, or it shapes what was made
// at the start. nil when it can. A nil value asks for the name alone.
func CheckLive(name string, value any) error {
	def := findSetting(name)
	if def == nil {
		return unknownSetting(name)
	}
	if !isLive(name) {
		return badSetting(name, errors.New(notLive(def)))
	}
	if value == nil {
		return nil
	}
	return CheckSetting(name, value)
}

// notLive is why a setting is none of the live ones, and what to do.
func notLive(def *setting) string {
	switch def.name {
	case "partition", "queue", "start_urls_key", "requests_key", "dupefilter_key", "items_key":
		return "it decides where in redis a request lies, so it cannot change while requests wait; stop the spider, let its file set it, and start with --fresh"
	case "robotstxt_obey", "robots_meta_obey", "allow_private_addresses":
		return "it guards others, so it is never changed from outside; the spider's file sets it"
	}
	if def.name == "download_slots" {
		return "the spider's file says it; \"luacrawl slots set\" sets delay and concurrency of one site live"
	}
	if def.fleet {
		return "all workers of a crawl agree on it when they start; stop the spider, let its file set it, and resume"
	}
	return "a worker takes it when it starts a spider; let the spider's file set it, or start the worker with --set"
}
