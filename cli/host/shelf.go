package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"luacrawl/scheduler"
)

// shelf keeps the last good revision of each spider on disk, for a start at which the registry cannot be read or its newest revision is
// broken: FOLDER/spiders/SPIDER.json, or FOLDER/spiders/@NAMESPACE/SPIDER.json.
type shelf struct{ folder string } // "": none is kept

func newShelf(data, namespace string) shelf {
	switch {
	case data == "":
		return shelf{}
	case namespace == "":
		return shelf{filepath.Join(data, "spiders")}
	}
	return shelf{filepath.Join(data, "spiders", "@"+namespace)}
}

// spiderName is what spiders are called in the registry.
var spiderName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// IsSpiderName reports whether a spider in the registry may have a name.
func IsSpiderName(name string) bool { return spiderName.MatchString(name) }

const shelfSuffix = ".json"

func (s shelf) file(spider string) string { return filepath.Join(s.folder, spider+shelfSuffix) }

// put keeps a revision in the place of the one before it, whole or not at all.
func (s shelf) put(r *scheduler.Revision) error {
	if s.folder == "" || !spiderName.MatchString(r.Spider) {
		return nil
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = writeWhole(s.file(r.Spider), text)
	}
	if err != nil {
		return fmt.Errorf("keeping revision %s of %s on disk: %w", scheduler.ShortRevision(r.ID), r.Spider, err)
	}
	return nil
}

// writeWhole writes a file beside its place and renames it there.
func writeWhole(name string, text []byte) error {
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use to anybody
	}
	return err
}

// get reads the revision that is kept of a spider, nil when there is none. One that is not what was put there is an error.
func (s shelf) get(spider string) (*scheduler.Revision, error) {
	if s.folder == "" || !spiderName.MatchString(spider) {
		return nil, nil
	}
	text, err := os.ReadFile(s.file(spider))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := new(scheduler.Revision)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err == nil {
		err = r.Validate()
	}
	if err == nil && r.Spider != spider {
		err = fmt.Errorf("it is one of spider %s", r.Spider)
	}
	if err != nil {
		return nil, fmt.Errorf("the revision of %s that was kept in %s cannot be used: %w", spider, s.file(spider), err)
	}
	return r, nil
}

// remove forgets a spider that the fleet no longer has.
func (s shelf) remove(spider string) {
	if s.folder != "" && spiderName.MatchString(spider) {
		_ = os.Remove(s.file(spider)) // a file that stays is only looked at when the registry cannot be read
	}
}

// names are the spiders of which a revision is kept.
func (s shelf) names() []string {
	if s.folder == "" {
		return nil
	}
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), shelfSuffix); ok && spiderName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}
