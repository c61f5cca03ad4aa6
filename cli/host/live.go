package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// workerLive are the live settings that a worker itself puts into effect; Redis keeps the others. refused says, in one line, what cannot be
// set while a crawl runs: whoever set it may use another version of luacrawl.
func workerLive(all map[string]string) (ours map[string]string, refused string) {
	ours = map[string]string{}
	var reasons []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch err := engine.CheckLive(name, all[name]); {
		case err != nil:
			reasons = append(reasons, err.Error())
		case !scheduler.KeepsLive(name):
			ours[name] = all[name]
		}
	}
	return ours, strings.Join(reasons, "; ")
}

// Live puts into effect what people have set, and takes back what they have taken back.
func (r *Reloader) Live(all map[string]string) {
	r.working.Lock()
	defer r.working.Unlock()
	ours, refused := workerLive(all)
	if refused != r.refused && refused != "" {
		r.voice.Logger.Error("settings that were set live are not in effect", "error", refused)
	}
	r.refused = refused
	before := r.layers.Live
	if maps.Equal(ours, before) {
		return
	}
	layers := r.layers
	layers.Live = ours
	merged, err := layers.Merge(r.file, r.effective)
	if err != nil {
		r.voice.Logger.Error("settings that were set live are not in effect", "error", err)
		return
	}
	r.layers = layers
	r.put(merged)
	_ = r.voice.SetLevel(merged.LogLevel) // Merge has checked it
	r.voice.Notice("set live: " + liveText(before, ours))
}

// liveText says what has changed between two live layers.
func liveText(before, after map[string]string) string {
	var parts []string
	names := maps.Clone(before)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, had := before[name]
		value, has := after[name]
		switch {
		case !has:
			parts = append(parts, name+" is no longer set")
		case !had || old != value:
			parts = append(parts, fmt.Sprintf("%s=%s", name, value))
		}
	}
	return strings.Join(parts, ", ")
}
