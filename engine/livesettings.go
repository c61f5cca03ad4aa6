package engine

import (
	"maps"
	"reflect"
	"slices"
)

// liveSettings are looked at anew for each page or step, so an edit of them can be in effect at once. The others shape what was made at
// the start: the frontier, the downloader, the workers.
var liveSettings = []string{
	"retry_times", "redirect_max_times", "referer_enabled", "referrer_policy", "depth_limit", "urllength_limit", "handle_httpstatus_list", "handle_httpstatus_all",
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
