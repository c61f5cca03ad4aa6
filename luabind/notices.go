package luabind

import (
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// notices hears from the system of changes in the folders of a spider's files. It is nil where the system has no word to give;
// its methods then do nothing. Folders are watched rather than files, since an editor that renames leaves a watch of the old file behind.
type notices struct {
	watcher *fsnotify.Watcher
	folder  string
	refused map[string]bool // folders that cannot be watched, told of once
	logger  *slog.Logger
}

// openNotices begins to listen. It returns nil when there is no folder, or no more watches in the system.
func openNotices(folder string, logger *slog.Logger) *notices {
	if folder == "" {
		return nil
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		logger.Debug("the system tells of no changes: the spider's files are looked at twice a second", "error", err)
		return nil
	}
	return &notices{watcher: w, folder: folder, refused: map[string]bool{}, logger: logger}
}

func (n *notices) events() <-chan fsnotify.Event {
	if n == nil {
		return nil
	}
	return n.watcher.Events
}

func (n *notices) errors() <-chan error {
	if n == nil {
		return nil
	}
	return n.watcher.Errors
}

// follow watches the folders of these files, and no others. A folder that is replaced loses its watch and gets another here.
func (n *notices) follow(files fileSet) {
	if n == nil {
		return
	}
	wanted, have := n.folders(files), n.watcher.WatchList()
	for _, folder := range have {
		if !slices.Contains(wanted, folder) {
			_ = n.watcher.Remove(folder) // it may be gone already
		}
	}
	for _, folder := range wanted {
		if slices.Contains(have, folder) {
			continue
		}
		err := n.watcher.Add(folder)
		if err != nil && !n.refused[folder] {
			n.logger.Debug("the system tells of no changes in a folder: its files are looked at twice a second", "folder", folder, "error", err)
		}
		n.refused[folder] = err != nil
	}
}

// folders are those of the files, and where a file is a symlink those of what it points to.
func (n *notices) folders(files fileSet) []string {
	var folders []string
	for name := range files {
		path := filepath.Join(n.folder, filepath.FromSlash(name))
		folders = append(folders, filepath.Dir(path))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(real))
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

func (n *notices) close() {
	if n != nil {
		_ = n.watcher.Close() // nothing is written through it
	}
}
