package engine

import (
	"fmt"
	"log/slog"
	"strings"

	"luacrawl/engine/fetch/cookies"
)

// mostShownCookies is how many cookies of a response cookies_debug shows.
const mostShownCookies = 20

// showSent logs, for cookies_debug, the Cookie header of the page's request without its values.
func (p *page) showSent(header []string) {
	if !p.Settings.CookiesDebug || len(header) == 0 {
		return
	}
	shown := make([]string, len(header))
	for i, line := range header {
		shown[i] = cookies.Mask(line)
	}
	p.showCookies("cookies sent", slog.String("cookie", strings.Join(shown, " | ")))
}

// showReceived logs, for cookies_debug, the Set-Cookie headers of a response without their values.
func (p *page) showReceived(status int, lines []string) {
	if !p.Settings.CookiesDebug || len(lines) == 0 {
		return
	}
	var shown []string
	for _, line := range lines[:min(len(lines), mostShownCookies)] {
		shown = append(shown, cookies.MaskSetCookie(line))
	}
	if more := len(lines) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	message := "cookies received"
	if !p.keepsCookies {
		message = "cookies received and not kept"
	}
	p.showCookies(message, slog.Int("status", status), slog.String("set_cookie", strings.Join(shown, " | ")))
}

func (p *page) showCookies(message string, about ...any) {
	about = append([]any{slog.String("url", p.req.URL)}, about...)
	if p.jar != "" {
		about = append(about, slog.String("jar", p.jar))
	}
	p.Logger.Info(message, about...)
}
