package cli

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"luacrawl/engine"
)

// README.md's table of settings is the engine's: each row has the right words, and its default changes nothing.
func TestReadmeListsTheSettings(t *testing.T) {
	t.Parallel()
	rows := readmeSettings(t)
	docs := engine.SettingDocs()
	if len(rows) != len(docs) {
		t.Errorf("README.md lists %d settings, there are %d", len(rows), len(docs))
	}
	for _, doc := range docs {
		row, ok := rows[doc.Name]
		if !ok {
			t.Errorf("README.md does not list %s", doc.Name)
			continue
		}
		value := strings.Trim(row[1], "`")
		scope := "worker"
		if doc.Fleet {
			scope = "fleet"
		}
		want := fmt.Sprintf("| `%s` | %s | %s | %s | %s |", doc.Name, row[1], doc.Unit, scope, doc.Doc)
		if got := "| " + strings.Join(row, " | ") + " |"; got != want {
			t.Errorf("README.md has\n%s\nwant\n%s", got, want)
		}
		if value == "" {
			continue
		}
		s := engine.DefaultSettings()
		if err := s.Apply("README.md", map[string]any{doc.Name: value}); err != nil {
			t.Error(err)
		}
		if !reflect.DeepEqual(s, engine.DefaultSettings()) {
			t.Errorf("%s: the default is not %s", doc.Name, value)
		}
	}
}

// readmeSettings are the rows between the markers, by name.
func readmeSettings(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "<!-- settings:")
	table, _, ok := strings.Cut(rest, "<!-- /settings -->")
	if !ok {
		t.Fatal("README.md has no table of settings")
	}
	rows := map[string][]string{}
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name := strings.Trim(cells[0], "`")
		if rows[name] != nil {
			t.Errorf("README.md lists %s twice", name)
		}
		rows[name] = cells
	}
	return rows
}
