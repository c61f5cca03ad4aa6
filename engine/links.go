package engine

import "regexp"

// LinkFilter says which links of a page to take.
type LinkFilter struct {
	Allow, Deny []*regexp.Regexp // unanchored, on the absolute URL without fragment; no Allow allows all
	SameHost    bool             // host and port of the page's URL
	Restrict    *Selector        // only links inside its matches
	All         bool             // keep repeated URLs
}
