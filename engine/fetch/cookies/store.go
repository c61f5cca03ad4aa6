package cookies

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// maxStoredCookie is how long the text of a cookie may be: what none of ours exceeds.
const maxStoredCookie = 64 << 10

// stored is a cookie as JSON; times are Unix microseconds. The names are short because they are most of it.
type stored struct {
	Name     text  `json:"n,omitempty"`
	Value    text  `json:"v,omitempty"`
	Domain   text  `json:"d"`
	Path     text  `json:"p"`
	HostOnly bool  `json:"host,omitempty"`
	Secure   bool  `json:"sec,omitempty"`
	HTTPOnly bool  `json:"http,omitempty"`
	Expires  int64 `json:"e,omitempty"`
	Created  int64 `json:"c"`
	Used     int64 `json:"u"`
}

// text is a string of any bytes. JSON carries only UTF-8, so others are base64 behind a NUL, which no cookie has.
type text string

// MarshalText writes what UnmarshalText reads.
func (t text) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return []byte(t), nil
	}
	return base64.StdEncoding.AppendEncode([]byte{0}, []byte(t)), nil
}

// UnmarshalText returns an error for base64 that is none.
func (t *text) UnmarshalText(data []byte) error {
	if len(data) == 0 || data[0] != 0 {
		*t = text(data)
		return nil
	}
	plain, err := base64.StdEncoding.DecodeString(string(data[1:]))
	*t = text(plain)
	return err
}

// Encode gives the cookie as JSON for Decode: the value of a field in the hash of a jar.
func (c *Cookie) Encode() string {
	out, err := json.Marshal(c.stored())
	if err != nil {
		panic("cookies: " + err.Error()) // strings, numbers and booleans always have a JSON form
	}
	return string(out)
}

func (c *Cookie) stored() stored {
	s := stored{
		Name: text(c.Name), Value: text(c.Value), Domain: text(c.Domain), Path: text(c.Path),
		HostOnly: c.HostOnly, Secure: c.Secure, HTTPOnly: c.HTTPOnly,
		Created: c.Created.UnixMicro(), Used: c.Used.UnixMicro(),
	}
	if !c.Expires.IsZero() {
		s.Expires = c.Expires.UnixMicro()
	}
	return s
}

// Decode reads what Encode has written and checks that it is a cookie that a jar may hold. Errors show no values: they are credentials.
func Decode(data string) (*Cookie, error) {
	if len(data) > maxStoredCookie {
		return nil, fmt.Errorf("stored cookie has %d bytes, more than %d", len(data), maxStoredCookie)
	}
	var s stored
	if err := json.Unmarshal([]byte(data), &s); err != nil {
		return nil, fmt.Errorf("stored cookie is not one in JSON: %w", hideValue(err))
	}
	return s.cookie()
}

func hideValue(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("field %q has another type", wrong.Field)
	}
	return err
}

func (s stored) cookie() (*Cookie, error) {
	c := &Cookie{
		Name: string(s.Name), Value: string(s.Value), Domain: string(s.Domain), Path: string(s.Path),
		HostOnly: s.HostOnly, Secure: s.Secure, HTTPOnly: s.HTTPOnly,
		Created: time.UnixMicro(s.Created).UTC(), Used: time.UnixMicro(s.Used).UTC(),
	}
	if s.Expires != 0 {
		c.Expires = time.UnixMicro(s.Expires).UTC()
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("stored %w", err)
	}
	if !validHost(c.Domain) || !c.HostOnly && isPublicSuffix(c.Domain) {
		return nil, fmt.Errorf("stored cookie %.40q: domain %.40q is not valid", c.Name, c.Domain)
	}
	if !strings.HasPrefix(c.Path, "/") || hasControl(c.Path) {
		return nil, fmt.Errorf("stored cookie %.40q: path %.40q is not valid", c.Name, c.Path)
	}
	return c, nil
}

func validHost(host string) bool {
	return host != "" && host == strings.ToLower(host) && !strings.HasPrefix(host, ".") && !strings.ContainsAny(host, "; \t") && !hasControl(host)
}
