package host

import (
	"fmt"
	"maps"
	"slices"

	"luacrawl/engine"
)

// fixedSettings decide where in Redis a request lies: a crawl cannot change them on its way.
var fixedSettings = []string{"partition", "queue", "start_urls_key", "requests_key", "dupefilter_key", "items_key"}

// settingsPlan is what an edit of settings comes to.
type settingsPlan struct {
	effective map[string]any  // the spider's settings that are to be in effect
	merged    engine.Settings // the same under the outer layers
	now       []string        // names that change now
	late      []string        // names that change at the next start
}

// planSettings checks the settings of an edit, before being those in effect. Those that cannot change are refused; those that cannot change
// now stay as they are. With a push the settings of the fleet change for all workers at once.
func (l Layers) planSettings(file string, before, edited map[string]any, pushed bool) (settingsPlan, error) {
	if _, err := l.Merge(file, edited); err != nil {
		return settingsPlan{}, err
	}
	p := settingsPlan{effective: maps.Clone(edited)}
	live := liveSettings()
	for _, name := range engine.ChangedSettings(before, edited) {
		old, had := before[name]
		switch {
		case l.decide(name):
		case slices.Contains(fixedSettings, name):
			return settingsPlan{}, fixedError(file, name, old, edited[name])
		case live[name], pushed && engine.IsFleetSetting(name):
			p.now = append(p.now, name)
			continue
		default:
			p.late = append(p.late, name)
		}
		if delete(p.effective, name); had {
			p.effective[name] = old
		}
	}
	var err error
	p.merged, err = l.Merge(file, p.effective)
	return p, err
}

func fixedError(file, name string, old, edited any) error {
	return mistake(fmt.Errorf("%s: setting %s was %s and is now %s: a crawl that has requests under the one cannot go on under the other; restore it, or stop all workers and start anew with --fresh",
		file, name, settingText(old), settingText(edited)))
}

func settingText(v any) string {
	if v == nil {
		return "the default"
	}
	return fmt.Sprintf("%q", fmt.Sprint(v))
}

// liveSettings are the names that a running crawl takes over.
func liveSettings() map[string]bool {
	live := map[string]bool{}
	for _, d := range engine.SettingDocs() {
		live[d.Name] = d.Live
	}
	return live
}
