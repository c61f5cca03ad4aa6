package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// RequestCookie is a cookie that a request brings along into its jar.
type RequestCookie struct {
	Name, Value string
	Domain      string // "": the request's host alone
	Path        string // "": the folder of the request's URL
	Secure      *bool  // nil: as the request's URL is https
}

func (c RequestCookie) plain() bool { return c.Domain == "" && c.Path == "" && c.Secure == nil }

// RequestCookies are the cookies of a request. As JSON they are an object of names and values, or, where more is to be said of them, a
// list of objects with name, value, domain, path and secure, as in Scrapy.
type RequestCookies []RequestCookie

// Plain gives the cookies by their names, if there is nothing more to say of them.
func (c RequestCookies) Plain() (values map[string]string, ok bool) {
	values = make(map[string]string, len(c))
	for _, cookie := range c {
		values[cookie.Name] = cookie.Value
		ok = ok || !cookie.plain()
	}
	return values, !ok && len(values) == len(c)
}

type jsonCookie struct {
	Name   string     `json:"name"`
	Value  cookieText `json:"value"`
	Domain string     `json:"domain,omitempty"`
	Path   string     `json:"path,omitempty"`
	Secure *bool      `json:"secure,omitempty"`
}

// cookieText is a string; a number is read as it is written.
type cookieText string

// UnmarshalJSON returns an error for what is neither a string nor a number.
func (t *cookieText) UnmarshalJSON(data []byte) error {
	if number := json.Number(""); len(data) > 0 && data[0] != '"' && json.Unmarshal(data, &number) == nil && number != "" {
		*t = cookieText(number)
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// MarshalJSON writes what UnmarshalJSON reads.
func (c RequestCookies) MarshalJSON() ([]byte, error) {
	var form any
	if values, ok := c.Plain(); ok {
		form = values
	} else {
		list := make([]jsonCookie, len(c))
		for i, cookie := range c {
			list[i] = jsonCookie{cookie.Name, cookieText(cookie.Value), cookie.Domain, cookie.Path, cookie.Secure}
		}
		form = list
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(form)
	return b.Bytes(), err
}

// UnmarshalJSON reads both forms. Its errors show no values.
func (c *RequestCookies) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*c = nil
	switch {
	case string(data) == "null":
		return nil
	case len(data) > 0 && data[0] == '{':
		var values map[string]cookieText
		if json.Unmarshal(data, &values) != nil {
			return errors.New("cookies hold a value that is neither a string nor a number")
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			*c = append(*c, RequestCookie{Name: name, Value: string(values[name])})
		}
		return nil
	case len(data) > 0 && data[0] == '[':
		return c.readList(data)
	}
	return errors.New("cookies must be an object of names and values, or a list of objects with name and value")
}

func (c *RequestCookies) readList(data []byte) error {
	var list []jsonCookie
	if json.Unmarshal(data, &list) != nil {
		return errors.New("cookies must be a list of objects with name, value, domain and path as strings and secure as true or false")
	}
	for i, cookie := range list {
		if cookie.Name == "" {
			return fmt.Errorf("cookie %d of the list has no name", i+1)
		}
		*c = append(*c, RequestCookie{cookie.Name, string(cookie.Value), cookie.Domain, cookie.Path, cookie.Secure})
	}
	return nil
}
