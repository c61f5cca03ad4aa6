package cli_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// tower are the floors of the house, the lowest first: imports run down only. spiders holds files and imports nothing.
var tower = []string{"scheduler", "engine", "luabind", "cli"}

// owned are the modules that one floor alone may use, so that it can be replaced without touching the rest.
var owned = map[string]string{
	"github.com/redis/go-redis/": "scheduler",
	"github.com/yuin/gopher-lua": "luabind",
	"github.com/urfave/cli/":     "cli",
	"github.com/fsnotify/":       "luabind",
	"github.com/go-sql-driver/":  "engine",
	"github.com/jackc/pgx/":      "engine",
	"modernc.org/sqlite":         "engine",
	"github.com/prometheus/":     "cli",
}

func TestImportsRunDownTheTower(t *testing.T) {
	t.Parallel()
	for importer, imported := range imports(t) {
		for _, path := range imported {
			if complaint := climbs(importer, path); complaint != "" {
				t.Error(complaint)
			}
		}
	}
}

func TestTowerFindsAClimb(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"luacrawl/scheduler/weburl", "luacrawl/engine"},
		{"luacrawl/engine", "luacrawl/luabind"},
		{"luacrawl/engine", "github.com/redis/go-redis/v9"},
		{"luacrawl/cli", "github.com/yuin/gopher-lua/parse"},
		{"luacrawl/spiders", "luacrawl/cli"},
	} {
		if climbs(pair[0], pair[1]) == "" {
			t.Errorf("%s may import %s", pair[0], pair[1])
		}
	}
}

// climbs says what is wrong with an import, "" when nothing is.
func climbs(importer, path string) string {
	from, to := floor(importer), floor(path)
	for module, owner := range owned {
		if strings.HasPrefix(path, module) && from != owner {
			return importer + " imports " + path + ", which only " + owner + " may"
		}
	}
	if from == "spiders" && strings.HasPrefix(path, "luacrawl/") {
		return importer + " imports " + path
	}
	if i, j := slices.Index(tower, from), slices.Index(tower, to); i >= 0 && j > i {
		return importer + " imports " + path + ": imports run down " + strings.Join(tower, " < ")
	}
	return ""
}

// floor is the folder at the top that a package of ours lies in.
func floor(path string) string {
	rest, ok := strings.CutPrefix(path, "luacrawl/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// imports are those of all packages, without their tests.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "luacrawl/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	m := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		m[fields[0]] = fields[1:]
	}
	if len(m) < len(tower) {
		t.Fatalf("go list named %d packages only", len(m))
	}
	return m
}
