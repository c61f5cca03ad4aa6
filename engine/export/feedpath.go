package export

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// feedPath is a path with placeholders.
type feedPath []pathPiece

// pathPiece is literal text, or a placeholder if verb is not "".
type pathPiece struct {
	text  string
	verb  string // spider, host, time or part
	width int    // of part, padded with zeros
}

var placeholder = regexp.MustCompile(`^%\(([a-z]+)\)(0?)([0-9]*)([a-z])`)

// parseFeedPath reads a template; what is no placeholder is an error, since it would only be noticed by the name of a file.
func parseFeedPath(s string) (feedPath, error) {
	var path feedPath
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			return path.literal(s), nil
		}
		path = path.literal(s[:i])
		s = s[i:]
		if strings.HasPrefix(s, "%%") {
			path, s = path.literal("%"), s[2:]
			continue
		}
		m := placeholder.FindStringSubmatch(s)
		if m == nil {
			return nil, fmt.Errorf("%q is no placeholder; known are %%(spider)s, %%(host)s, %%(time)s, %%(part)d, and %%%% for a percent sign", s)
		}
		piece, err := newPathPiece(m)
		if err != nil {
			return nil, err
		}
		path, s = append(path, piece), s[len(m[0]):]
	}
	return path, nil
}

func newPathPiece(m []string) (pathPiece, error) {
	verb, width := m[1], 0
	want := map[string]string{"spider": "s", "host": "s", "time": "s", "part": "d"}[verb]
	switch {
	case want == "":
		return pathPiece{}, fmt.Errorf("unknown placeholder %%(%s)%s; known are %%(spider)s, %%(host)s, %%(time)s and %%(part)d", verb, m[4])
	case want != m[4] || want == "s" && m[2]+m[3] != "":
		return pathPiece{}, fmt.Errorf("%s: write it as %%(%s)%s", m[0], verb, want)
	}
	if m[3] != "" {
		var err error
		if width, err = strconv.Atoi(m[3]); err != nil || width > 20 {
			return pathPiece{}, fmt.Errorf("%s: a number has at most 20 digits", m[0])
		}
	}
	return pathPiece{verb: verb, width: width}, nil
}

// literal adds text to the last piece, so that equal paths are equal pieces.
func (p feedPath) literal(text string) feedPath {
	if text == "" {
		return p
	}
	if n := len(p); n > 0 && p[n-1].verb == "" {
		p[n-1].text += text
		return p
	}
	return append(p, pathPiece{text: text})
}

func (p feedPath) has(verb string) bool {
	for _, piece := range p {
		if piece.verb == verb {
			return true
		}
	}
	return false
}

// varies reports whether each file can have a name of its own.
func (p feedPath) varies() bool { return p.has("part") || p.has("time") }

// fix puts in what stays the same while a process lives.
func (p feedPath) fix(spider, host string) feedPath {
	var fixed feedPath
	for _, piece := range p {
		switch piece.verb {
		case "spider":
			fixed = fixed.literal(fileName(spider))
		case "host":
			fixed = fixed.literal(fileName(host))
		case "":
			fixed = fixed.literal(piece.text)
		default:
			fixed = append(fixed, piece)
		}
	}
	return fixed
}

// render gives the name of one file.
func (p feedPath) render(begun time.Time, part int) string {
	var b strings.Builder
	for _, piece := range p {
		switch piece.verb {
		case "time":
			b.WriteString(begun.UTC().Format("2006-01-02T15-04-05"))
		case "part":
			fmt.Fprintf(&b, "%0*d", piece.width, part)
		default:
			b.WriteString(piece.text)
		}
	}
	return b.String()
}

// String is the template again.
func (p feedPath) String() string {
	var b strings.Builder
	for _, piece := range p {
		switch {
		case piece.verb == "":
			b.WriteString(strings.ReplaceAll(piece.text, "%", "%%"))
		case piece.width > 0:
			fmt.Fprintf(&b, "%%(%s)0%dd", piece.verb, piece.width)
		case piece.verb == "part":
			b.WriteString("%(part)d")
		default:
			b.WriteString("%(" + piece.verb + ")s")
		}
	}
	return b.String()
}

// absolute is the template as an absolute path; a placeholder has no slash, so that cleaning a path does not touch it.
func (p feedPath) absolute() (string, error) {
	return filepath.Abs(p.String())
}

// dir is the deepest folder that all files of the path share.
func (p feedPath) dir() string {
	if len(p) == 0 || p[0].verb != "" {
		return "."
	}
	if len(p) == 1 {
		return filepath.Dir(p[0].text)
	}
	return filepath.Dir(p[0].text + "x")
}

// fileName makes a value safe as one part of a path.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, s)
	if strings.Trim(s, ".") == "" {
		return strings.Repeat("_", max(1, len(s)))
	}
	return s
}
