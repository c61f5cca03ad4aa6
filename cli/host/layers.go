// Package host runs spiders in one process: what the commands run and worker have in common, and the host that a worker is. It sees
// neither arguments, environment, terminal nor signals: the commands hand in what they say.
package host

import (
	"maps"
	"slices"

	"luacrawl/engine"
)

// Layers are the settings from outside of the spider.
type Layers struct {
	Env  map[string]string // from the environment: variable -> value, as FromEnv names them
	Sets map[string]string // --set, or what a command sets itself
	Live map[string]string // what people have set while the crawl runs, without what Redis keeps itself
}

// MistakeError is a mistake of whoever gave a setting or a spider: the same again would fail again.
type MistakeError struct{ Err error }

func (e *MistakeError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *MistakeError) Unwrap() error { return e.Err }

func mistake(err error) error { return &MistakeError{err} }

// Merge is the one place where settings meet: default < spider < environment < --set < live. file names the spider in errors. Every
// error is a *MistakeError.
func (l Layers) Merge(file string, spider map[string]any) (engine.Settings, error) {
	s := engine.DefaultSettings()
	if err := s.Apply(file, spider); err != nil {
		return s, mistake(err)
	}
	for _, variable := range slices.Sorted(maps.Keys(l.Env)) {
		if err := s.Apply(variable, map[string]any{EnvSetting(variable): l.Env[variable]}); err != nil {
			return s, mistake(err)
		}
	}
	for _, layer := range []struct {
		source string
		values map[string]string
	}{{"--set", l.Sets}, {"set live", l.Live}} {
		for _, name := range slices.Sorted(maps.Keys(layer.values)) {
			if err := s.Apply(layer.source, map[string]any{name: layer.values[name]}); err != nil {
				return s, mistake(err)
			}
		}
	}
	if err := s.Validate(); err != nil {
		return s, mistake(err)
	}
	return s, nil
}

// decide reports whether an outer layer gives the setting a value, whatever the spider says.
func (l Layers) decide(name string) bool {
	_, set := l.Sets[name]
	_, live := l.Live[name]
	_, env := l.Env[envVariable(name)]
	return set || live || env
}
