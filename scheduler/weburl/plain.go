package weburl

import "strings"

// What a byte may do without being changed by the parser, or by w3lib.
const (
	pathByte      = 1 << iota // stays in the path of an http URL
	queryByte                 // stays in its query
	fragmentByte              // stays in its fragment
	opaqueByte                // stays in any part of a URL like mailto:x
	hostByte                  // stays in a host, given the checks of plainHost
	schemeByte                // may be in a scheme
	canonicalByte             // stays in a path canonicalized by w3lib
	unreserved                // stays in a query canonicalized by w3lib
)

const (
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
	letters  = lowers + uppers
	reserved = ":/?#[]@!$&'()*+,;="
)

var classes = func() (t [256]byte) {
	for c := byte(0x21); c < 0x7f; c++ {
		t[c] = pathByte | queryByte | fragmentByte | opaqueByte
	}
	for _, group := range []struct {
		bytes string
		class byte
	}{
		{`"#<>?` + "`{}\\", pathByte},
		{`"#<>'`, queryByte},
		{`"<>` + "`", fragmentByte},
		{`"<>'` + "`", opaqueByte},
		{lowers + digits + "-._", hostByte},
		{letters + digits + "+-.", schemeByte},
		{letters + digits + "-._~:/[]@!$&'()*+,=|", canonicalByte},
		{letters + digits + "-._~", unreserved},
	} {
		for _, c := range []byte(group.bytes) {
			t[c] ^= group.class
		}
	}
	return t
}()

func isPlain(s string, class byte) bool {
	for i := range len(s) {
		if classes[s[i]]&class == 0 {
			return false
		}
	}
	return true
}

// plainTail reports whether path, query and fragment come out of the parser as they are. s starts with a path
// segment, a slash, "?" or "#". Segments that begin with a dot, written out or as %2e, are left to the parser.
func plainTail(s string) bool {
	slash := true // the byte before was one
	for i := range len(s) {
		c := s[i]
		if classes[c]&pathByte == 0 {
			return (c == '?' || c == '#') && plainQuery(s[i:])
		}
		if slash && c == '.' || c == '%' && escapesDot(s[i:]) {
			return false
		}
		slash = c == '/'
	}
	return true
}

func plainQuery(s string) bool {
	hash := strings.IndexByte(s, '#')
	if hash < 0 {
		return isPlain(s, queryByte)
	}
	return isPlain(s[:hash], queryByte) && isPlain(s[hash:], fragmentByte)
}

func escapesDot(s string) bool {
	return len(s) > 2 && s[1] == '2' && s[2]|0x20 == 'e'
}

// hasScheme reports whether a link may start with a scheme: it has a colon before any slash, "?" or "#".
func hasScheme(ref string) bool {
	for i := range len(ref) {
		switch ref[i] {
		case ':':
			return true
		case '/', '?', '#':
			return false
		}
	}
	return false
}

// parsePlain parses an absolute http or https URL of ordinary characters: it is already in order, or lacks the slash
// of its empty path.
func parsePlain(raw string) (string, bool) {
	start, port := len("http://"), "80"
	switch {
	case strings.HasPrefix(raw, "http://"):
	case strings.HasPrefix(raw, "https://"):
		start, port = len("https://"), "443"
	default:
		return "", false
	}
	end := start
	for end < len(raw) && (classes[raw[end]]&hostByte != 0 || raw[end] == ':') {
		end++
	}
	if !plainHost(raw[start:end], port) {
		return "", false
	}
	if end == len(raw) {
		return raw + "/", true
	}
	switch raw[end] {
	case '/':
		return raw, plainTail(raw[end:])
	case '?', '#':
		return raw[:end] + "/" + raw[end:], plainTail(raw[end:])
	}
	return "", false
}

// plainHost reports whether host[:port] comes out of the parser as it is. Left to the parser is what may be an IPv4
// address that is not in order, punycode, an empty label or a number written in another way.
func plainHost(s, ownPort string) bool {
	host, port, found := strings.Cut(s, ":")
	if found && (!plainPort(port) || port == ownPort) {
		return false
	}
	if host == "" || len(host) > 253 || strings.Contains(host, "--") {
		return false
	}
	label := 0
	for i := range len(host) {
		if host[i] != '.' {
			continue
		}
		if i == label {
			return false
		}
		label = i + 1
	}
	return label < len(host) && (!isDigit(host[label]) || plainIPv4(host))
}

// plainPort reports whether port is a number from 1 to 65535 without leading zeros.
func plainPort(port string) bool {
	return port != "" && port[0] != '0' && allDigits(port) && (len(port) < 5 || len(port) == 5 && port <= "65535")
}

// plainIPv4 reports whether host is four decimal numbers up to 255 without leading zeros.
func plainIPv4(host string) bool {
	parts := 0
	for part := range strings.SplitSeq(host, ".") {
		if parts++; parts > 4 || len(part) > 3 || !allDigits(part) || len(part) > 1 && part[0] == '0' || len(part) == 3 && part > "255" {
			return false
		}
	}
	return parts == 4
}

// plainOpaque reports whether an absolute URL such as mailto:x or javascript:y comes out of the parser as it is.
func plainOpaque(raw string) bool {
	colon := strings.IndexByte(raw, ':')
	if colon < 1 || colon+1 == len(raw) || raw[colon+1] == '/' || raw[0] < 'a' || raw[0] > 'z' {
		return false
	}
	switch scheme := raw[:colon]; scheme {
	case "http", "https", "ws", "wss", "ftp", "file":
		return false
	default:
		return strings.ToLower(scheme) == scheme && isPlain(scheme, schemeByte) && isPlain(raw[colon:], opaqueByte)
	}
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
