package engine

import "errors"

// Selector is a compiled CSS selector, with Scrapy's ::text and ::attr(name).
type Selector struct{}

// CompileSelector compiles s, or returns a compiled one from the cache.
func CompileSelector(s string) (*Selector, error) { return nil, errors.New("stub") }

// Selection is an ordered list of matches: elements, or strings after ::text and ::attr(name).
type Selection struct{}

// Len is the number of matches.
func (s *Selection) Len() int { return 0 }

// Select finds matches below the elements of the selection.
func (s *Selection) Select(sel *Selector) *Selection { return nil }

// Get returns the first match: the string, or the element's outer HTML.
func (s *Selection) Get() (string, bool) { return "", false }

// GetAll returns Get of each match.
func (s *Selection) GetAll() []string { return nil }

// Text is the text of all matches, joined; "" for none.
func (s *Selection) Text() string { return "" }

// Attr returns an attribute of the first match.
func (s *Selection) Attr(name string) (string, bool) { return "", false }

// At returns the i-th match, from 0, as a selection of one.
func (s *Selection) At(i int) *Selection { return nil }
