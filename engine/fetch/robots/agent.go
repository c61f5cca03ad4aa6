package robots

import "strings"

// ProductToken is the name by which robots.txt files call the crawler with this User-Agent header: "luacrawl" for
// "luacrawl/1.0 (+https://example.com)", and "MyBot" for "Mozilla/5.0 (compatible; MyBot/2.1; +https://example.com)". It is empty
// if there is no such name; only groups for "*" hold then.
func ProductToken(userAgent string) string {
	token := longToken(userAgent)
	if !strings.EqualFold(token, "Mozilla") {
		return token
	}
	if _, rest, ok := strings.Cut(userAgent, "compatible;"); ok {
		if own := longToken(strings.TrimLeft(rest, " ")); own != "" {
			return own
		}
	}
	return token
}

// agentNames are the names, in lower case, that the value of a User-agent line stands for: its letters as RFC 9309 has it
// ("FooBot/1.0", "Foo Bar" are foobot, foo), and with digits and points, which real crawlers have in their names. None for a
// value that names nobody.
func agentNames(value string) []string {
	if value == "*" || len(value) > 1 && value[0] == '*' && strings.IndexByte(space, value[1]) >= 0 {
		return []string{"*"}
	}
	short, long := strings.ToLower(shortToken(value)), strings.ToLower(longToken(value))
	switch {
	case long == "":
		return nil
	case short == "" || short == long:
		return []string{long}
	}
	return []string{short, long}
}

func shortToken(s string) string {
	return s[:prefixLen(s, func(c byte) bool { return isLetter(c) || c == '-' || c == '_' })]
}

func longToken(s string) string {
	return s[:prefixLen(s, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' || c == '_' || c == '.' })]
}

func prefixLen(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
