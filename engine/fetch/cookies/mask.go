package cookies

import (
	"fmt"
	"strings"
)

// What is shown of a name and of an attribute, in bytes, and how many parts of a header are.
const (
	maxShownName      = 40
	maxShownAttribute = 100
	maxShownParts     = 12
)

// hidden stands for what is not shown.
const hidden = "***"

// shownAttributes say nothing that lets anybody in. Others are hidden: they may be the rest of a value with ";" in it.
var shownAttributes = map[string]bool{
	"domain": true, "path": true, "expires": true, "max-age": true, "secure": true, "httponly": true, "samesite": true, "partitioned": true,
}

// Mask is a Cookie header for a log: the names, without the values. A name without a value is hidden too, since a value without a name, which may
// end with "=", looks like that.
func Mask(header string) string {
	return maskParts(header, func(_ int, pair string) string {
		if _, value, _ := strings.Cut(pair, "="); strings.Trim(value, "= \t") == "" {
			return hidden
		}
		return maskPair(pair)
	})
}

// MaskSetCookie is a Set-Cookie header for a log: name and attributes, without the value.
func MaskSetCookie(line string) string {
	return maskParts(line, func(i int, part string) string {
		if i == 0 {
			return maskPair(part)
		}
		part = trim(part)
		name, _, _ := strings.Cut(part, "=")
		if !shownAttributes[strings.ToLower(trim(name))] {
			return hidden
		}
		return shorten(part, maxShownAttribute)
	})
}

// maskParts masks the first parts of a header and says how many follow. A server sends as many as it likes.
func maskParts(header string, mask func(i int, part string) string) string {
	parts := strings.SplitN(header, ";", maxShownParts+1)
	for i, part := range parts[:min(len(parts), maxShownParts)] {
		parts[i] = mask(i, part)
	}
	if len(parts) > maxShownParts {
		parts[maxShownParts] = fmt.Sprintf("%d more", 1+strings.Count(parts[maxShownParts], ";"))
	}
	return strings.Join(parts, "; ")
}

// maskPair hides a value; an empty one, as of a cookie that is removed, is shown to be so. What has no "=" is a value without a name.
func maskPair(pair string) string {
	name, value, named := strings.Cut(trim(pair), "=")
	switch {
	case !named:
		return hidden
	case trim(value) != "":
		value = hidden
	}
	return shorten(trim(name), maxShownName) + "=" + trim(value)
}

func shorten(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}
