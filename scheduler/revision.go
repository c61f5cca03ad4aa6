package scheduler

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Limits of a revision, in bytes.
const (
	MaxRevisionFile = 1 << 20
	MaxRevisionSize = 4 << 20
)

// shortRevision is how many hex digits of a revision's ID name it on requests, log lines and in keys.
const shortRevision = 12

// Revision is the content of a spider: its main file and every module that it requires. It never changes.
type Revision struct {
	ID      string            // RevisionID of Main and Files
	Spider  string            // name
	Main    string            // the spider's file, a key of Files
	Files   map[string][]byte // by path, relative to the spider's folder, with slashes
	Author  string            // who pushed it first
	Message string
	Time    time.Time // of the first push
	Tool    string    // version of the luacrawl that pushed it
}

// RevisionID is the SHA-256 of a spider's files, in the order of their paths, in 64 hex digits. The main file's path counts too.
func RevisionID(main string, files map[string][]byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s\n", len(main), main)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%d %s %d\n", len(name), name, len(files[name]))
		h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ShortRevision is the part of a revision's ID that requests, log lines and dead letters carry.
func ShortRevision(id string) string { return id[:min(len(id), shortRevision)] }

// Validate says what is wrong with a revision, nil when nothing is.
func (r *Revision) Validate() error {
	if err := checkSpider(r.Spider); err != nil {
		return err
	}
	if _, ok := r.Files[r.Main]; !ok {
		return fmt.Errorf("revision of %s: its main file %q is not among its files", r.Spider, r.Main)
	}
	size := 0
	for name, text := range r.Files {
		size += len(text)
		switch {
		case !localPath(name):
			return fmt.Errorf("revision of %s: file %q lies outside of the spider's folder", r.Spider, name)
		case len(text) > MaxRevisionFile:
			return fmt.Errorf("%s has %d bytes, more than the %d that a file of a revision may have; keep data outside of Lua files", name, len(text), MaxRevisionFile)
		}
	}
	if size > MaxRevisionSize {
		return fmt.Errorf("revision of %s: its files have %d bytes together, more than the %d allowed", r.Spider, size, MaxRevisionSize)
	}
	if want := RevisionID(r.Main, r.Files); r.ID != want {
		return fmt.Errorf("revision %s of %s holds other files than its name says (%s): %w", ShortRevision(r.ID), r.Spider, ShortRevision(want), ErrRevisionDamaged)
	}
	return nil
}

// localPath accepts clean relative paths that stay in their folder.
func localPath(name string) bool {
	return name != "" && name == path.Clean(name) && !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../") && !strings.ContainsFunc(name, isControl)
}

// ErrRevisionDamaged says that a revision in Redis is not what was pushed: truncated, edited, or in part deleted.
var ErrRevisionDamaged = errors.New("the revision in redis is damaged; push it again")

// manifest is a revision as Redis holds it: the files by their hashes.
type manifest struct {
	ID      string         `json:"id"`
	Spider  string         `json:"spider"`
	Main    string         `json:"main"`
	Author  string         `json:"author,omitempty"`
	Message string         `json:"message,omitempty"`
	Time    time.Time      `json:"time"`
	Tool    string         `json:"tool,omitempty"`
	Files   []manifestFile `json:"files"`
}

type manifestFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int    `json:"size"`
}

func newManifest(r *Revision) manifest {
	m := manifest{ID: r.ID, Spider: r.Spider, Main: r.Main, Author: r.Author, Message: r.Message, Time: r.Time.UTC(), Tool: r.Tool}
	for name, text := range r.Files {
		sum := sha256.Sum256(text)
		m.Files = append(m.Files, manifestFile{name, hex.EncodeToString(sum[:]), len(text)})
	}
	slices.SortFunc(m.Files, func(a, b manifestFile) int { return cmp.Compare(a.Path, b.Path) })
	return m
}

// readManifest reads a revision's manifest and checks all but the files.
func readManifest(key, raw string) (manifest, error) {
	var m manifest
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		return m, fmt.Errorf("%s: %w: %w", key, ErrRevisionDamaged, err)
	}
	size := 0
	for _, f := range m.Files {
		size += f.Size
		if f.Size < 0 || f.Size > MaxRevisionFile || size > MaxRevisionSize || !localPath(f.Path) {
			return m, fmt.Errorf("%s: file %.100q: %w", key, f.Path, ErrRevisionDamaged)
		}
	}
	return m, nil
}

func (m *manifest) revision() *Revision {
	return &Revision{
		ID: m.ID, Spider: m.Spider, Main: m.Main, Author: m.Author, Message: m.Message, Time: m.Time, Tool: m.Tool,
		Files: make(map[string][]byte, len(m.Files)),
	}
}
