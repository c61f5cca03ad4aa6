package cookies

import "strings"

// Lengths in bytes of what is shown of a name and of an attribute.
const (
	maxShownName      = 40
	maxShownAttribute = 100
)

// hidden stands for what is not shown.
const hidden = "***"

// shownAttributes say nothing that lets anybody in. Others are hidden: they may be the rest of a value with ";" in it.
var shownAttributes = map[string]bool{
	"domain": true, "path": true, "expires": true, "max-age": true, "secure": true, "httponly": true, "samesite": true, "partitioned": true,
}

// Mask is a Cookie header for a log: the names, without the values.
func Mask(header string) string {
	pairs := strings.Split(header, ";")
	for i, pair := range pairs {
		pairs[i] = maskPair(pair)
	}
	return strings.Join(pairs, "; ")
}

// MaskSetCookie is a Set-Cookie header for a log: name and attributes, without the value.
func MaskSetCookie(line string) string {
	parts := strings.Split(line, ";")
	parts[0] = maskPair(parts[0])
	for i := 1; i < len(parts); i++ {
		part := trim(parts[i])
		name, _, _ := strings.Cut(part, "=")
		if !shownAttributes[strings.ToLower(trim(name))] {
			part = hidden
		}
		parts[i] = shorten(part, maxShownAttribute)
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
