package host

import (
	"fmt"
	"slices"
	"strings"

	"luacrawl/engine"
)

// Reminders are lines for the start of a crawl about how it meets other people's sites: none when all is as it should be.
func Reminders(s engine.Settings) []string {
	var lines []string
	if !s.RobotstxtObey {
		lines = append(lines, "robots.txt is not obeyed (robotstxt_obey is false): only for sites that are yours")
	}
	if !hasContact(s.UserAgent) {
		lines = append(lines, fmt.Sprintf("user_agent is %q, by which nobody can reach you: set one with a URL or a mail address, as in \"mycrawler/1.0 (+https://mysite.example/crawler)\"", s.UserAgent))
	}
	return lines
}

// reminded are the reminders that a process has said of one spider.
type reminded []string

// fresh are those that it has not said of the settings before, which it says now: not again with each crawl that is begun after a failure.
func (r *reminded) fresh(s engine.Settings) []string {
	lines := Reminders(s)
	said := *r
	*r = lines
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(said, line) })
}

// hasContact reports a User-Agent by which a site can find out who crawls it: one with a URL or a mail address.
func hasContact(userAgent string) bool {
	return strings.Contains(userAgent, "://") || strings.Contains(userAgent, "www.") || strings.Contains(userAgent, "@")
}
