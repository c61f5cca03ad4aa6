package cookies

import (
	"slices"
	"time"
)

// Parse gives the cookies that the answer from url sets by its Set-Cookie headers, in their order, without those that no jar takes. Of two in
// the same place the last one counts, and of all the last MaxPerSite do, as in a jar. One that is removed is among them: its Expires is not after now. What a
// jar has already, a Secure cookie for example, is not looked at.
func Parse(url string, setCookie []string, now time.Time) []*Cookie {
	s, err := siteOf(url)
	if err != nil {
		return nil
	}
	var list []*Cookie
	seen := map[string]bool{}
	for i := len(setCookie) - 1; i >= 0 && len(list) < MaxPerSite; i-- {
		c, err := parse(setCookie[i], s, exact(now))
		if err != nil || seen[c.Key()] {
			continue
		}
		seen[c.Key()] = true
		list = append(list, c)
	}
	slices.Reverse(list)
	return list
}
