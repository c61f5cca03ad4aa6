package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// version is what this binary was built from.
type version struct {
	Version  string `json:"version"`            // of the module: a tag, a pseudo-version or "(devel)"
	Revision string `json:"revision,omitempty"` // of the source, when it was built in a checkout
	Time     string `json:"time,omitempty"`     // of that revision
	Modified bool   `json:"modified"`           // the checkout had changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version of luacrawl and of Go",
		UsageText:   "luacrawl version [--json]",
		Description: "Example:\n\n  luacrawl version --json",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("version takes no arguments")
			}
			v := readVersion()
			if c.Bool("json") {
				return p.printJSON(v)
			}
			_, err := fmt.Fprintln(p.Out, v)
			return err
		},
	}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON, for programs", DisableDefaultText: true}
}

// printJSON writes one indented JSON value to Out.
func (p *program) printJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// readVersion reads what the Go toolchain wrote into the binary.
func readVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v version) String() string {
	s := "luacrawl " + v.Version
	if v.Revision != "" {
		s += ", source " + v.Revision[:min(len(v.Revision), 12)]
	}
	if v.Modified {
		s += " with changes"
	}
	return s + ", " + v.Go + " " + v.Platform
}
