package fetch

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

const (
	defaultAccept  = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	acceptEncoding = "gzip, deflate"
)

// BasicAuth is a user and password for one domain. They are sent to no other, whoever redirects there.
type BasicAuth struct {
	User, Password string
	Domain         string // lower case; this host and those below it. "" is none
}

// isFor asks of a Domain that is one.
func (a BasicAuth) isFor(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return strings.HasSuffix(host, a.Domain) && (len(host) == len(a.Domain) || host[len(host)-len(a.Domain)-1] == '.')
}

// defaultHeader is what a request without header of its own sends.
func defaultHeader(cfg Config) http.Header {
	h := http.Header{"User-Agent": {cfg.UserAgent}, "Accept": {defaultAccept}, "Accept-Encoding": {acceptEncoding}}
	maps.Copy(h, cfg.Header)
	return h
}

// header is what is sent: h over the defaults, with the credentials for u. It may be d.defaults itself, which is not written to.
func (d *Downloader) header(h http.Header, u *url.URL, v *via) http.Header {
	full := d.defaults
	if len(h) > 0 {
		full = maps.Clone(d.defaults)
		maps.Copy(full, h)
	}
	auth := d.authorization(u)
	drop := has(full, "Proxy-Authorization") && (v == nil || v.tunnel || v.proxy.User != nil) // the site would get it, or the proxy two
	if auth != "" && !has(full, "Authorization") || drop {
		full = maps.Clone(full)
		if auth != "" && !has(full, "Authorization") {
			full["Authorization"] = []string{auth}
		}
		if drop {
			delete(full, "Proxy-Authorization")
		}
	}
	return full
}

// authorization is what the URL itself, or Config.Auth, says of a user; "" for none.
func (d *Downloader) authorization(u *url.URL) string {
	switch {
	case u.User != nil:
		password, _ := u.User.Password()
		return basicAuth(u.User.Username(), password)
	case d.cfg.Auth.Domain != "" && d.cfg.Auth.isFor(u.Hostname()):
		return basicAuth(d.cfg.Auth.User, d.cfg.Auth.Password)
	}
	return ""
}

func basicAuth(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func has(h http.Header, name string) bool {
	_, ok := h[name]
	return ok
}

// checkHeader refuses what would be sent as something else (a line break starts a header of its own).
func checkHeader(h http.Header) error {
	for name, values := range h {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("header name %q is not valid", name)
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) || name == "Host" && !httpguts.ValidHostHeader(v) {
				return fmt.Errorf("header %s: value %q is not valid", name, v)
			}
		}
	}
	return nil
}
