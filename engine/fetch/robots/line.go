package robots

import "strings"

// kind is what a line of robots.txt is about.
type kind int

const (
	unknown kind = iota
	userAgent
	allow
	disallow
	crawlDelay
	sitemap
)

// space is what may stand around keys and values.
const space = " \t\v\f"

// splitLine takes a line apart, its comment left out. The colon may be missing if the line has two words.
func splitLine(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	line = strings.Trim(line, space)
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		end := strings.IndexAny(line, space)
		if end < 0 {
			return "", "", false
		}
		key, value = line[:end], strings.Trim(line[end:], space)
		if strings.ContainsAny(value, space) {
			return "", "", false
		}
	}
	return strings.Trim(key, space), strings.Trim(value, space), key != ""
}

// keys are the beginnings of known keys with the spellings that Google's parser accepts, because sites mean them.
var keys = []struct {
	begin string
	kind  kind
}{
	{"user-agent", userAgent}, {"useragent", userAgent}, {"user agent", userAgent},
	{"allow", allow},
	{"disallow", disallow}, {"dissallow", disallow}, {"dissalow", disallow}, {"disalow", disallow},
	{"diasllow", disallow}, {"disallaw", disallow},
	{"crawl-delay", crawlDelay}, {"crawldelay", crawlDelay}, {"crawl delay", crawlDelay},
	{"sitemap", sitemap}, {"site-map", sitemap},
}

func kindOf(key string) kind {
	for _, k := range keys {
		if len(key) >= len(k.begin) && strings.EqualFold(key[:len(k.begin)], k.begin) {
			return k.kind
		}
	}
	return unknown
}
