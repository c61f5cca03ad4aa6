package cli

import (
	"maps"
	"slices"
	"strings"

	"luacrawl/engine"
)

// envPrefix begins the environment variables that are settings: LUACRAWL_DOWNLOAD_DELAY is download_delay.
const envPrefix = "LUACRAWL_"

// notSettings are variables with the prefix that mean something else: to this command, and to the tests and benchmarks.
var notSettings = []string{envRedis, envNamespace, "LUACRAWL_SOAK", "LUACRAWL_SITES"}

// layers are the settings from outside of the spider.
type layers struct {
	environ []string          // NAME=VALUE
	sets    map[string]string // --set, or what a command sets itself
}

// merge is the one place where settings meet: default < spider < environment < --set. file names the
// spider in errors. Every error is one of usage.
func (l layers) merge(file string, spider map[string]any) (engine.Settings, error) {
	s := engine.DefaultSettings()
	if err := s.Apply(file, spider); err != nil {
		return s, usageError(err)
	}
	for _, entry := range slices.Sorted(slices.Values(l.environ)) {
		name, value, _ := strings.Cut(entry, "=")
		setting, ok := strings.CutPrefix(name, envPrefix)
		if !ok || value == "" || slices.Contains(notSettings, name) {
			continue // an empty variable is as good as none
		}
		if err := s.Apply(name, map[string]any{strings.ToLower(setting): value}); err != nil {
			return s, usageError(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.sets)) {
		if err := s.Apply("--set", map[string]any{name: l.sets[name]}); err != nil {
			return s, usageError(err)
		}
	}
	if err := s.Validate(); err != nil {
		return s, usageError(err)
	}
	return s, nil
}

// decide reports whether an outer layer gives the setting a value, whatever the spider says.
func (l layers) decide(name string) bool {
	if _, set := l.sets[name]; set {
		return true
	}
	return slices.ContainsFunc(l.environ, func(entry string) bool {
		variable, value, _ := strings.Cut(entry, "=")
		return variable == envPrefix+strings.ToUpper(name) && value != ""
	})
}

// pairs reads the NAME=VALUE of a repeatable flag; the last value of a name wins.
func pairs(flag string, values []string) (map[string]string, error) {
	m := make(map[string]string, len(values))
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, usagef("%s %q: write NAME=VALUE", flag, v)
		}
		m[name] = value
	}
	return m, nil
}
