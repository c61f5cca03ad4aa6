package scheduler

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

var _ redis.Error = replyError("")

// TestOutageIsSaidOnce: f is a failure, r a success, each a second after the one before; c is the end of the process.
func TestOutageIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, steps string
		err         error
		want        string // what the log says
	}{
		{"gone", "ffrrffr", errors.New("connection refused"), "does not answer, back after 2s, does not answer, back after 2s"},
		{"loading", "fr", replyError("LOADING Redis is loading the dataset in memory"), "refuses to work, back after 1s"},
		{"full", "frrrrrrr", replyError("OOM command not allowed when used memory > 'maxmemory'."), "full, back after 1s"},
		{"at the edge of its memory", "frfrffrrrfrrrrrrrr", replyError("OOM command not allowed when used memory > 'maxmemory'."), "full, back after 10s"},
		{"full again", "frrrrrrfrrrrrrr", replyError("OOM command not allowed when used memory > 'maxmemory'."), "full, back after 1s, full, back after 1s"},
		{"ends back", "frc", replyError("OOM command not allowed when used memory > 'maxmemory'."), "full, back after 1s"},
		{"ends full", "frfc", replyError("OOM command not allowed when used memory > 'maxmemory'."), "full"},
		{"fine", "rrc", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, nil))
			var o outage
			now := time.Now()
			for _, step := range c.steps {
				switch step {
				case 'f':
					o.fell(now, logger, "redis://r", c.err)
				case 'r':
					o.rose(now, logger, "redis://r")
				case 'c':
					o.end(logger, "redis://r")
				}
				now = now.Add(time.Second)
			}
			if got := said(log.String()); got != c.want {
				t.Errorf("the log says %q, want %q", got, c.want)
			}
		})
	}
}

// said shortens a log of outages.
func said(log string) string {
	var words []string
	for line := range strings.Lines(log) {
		for _, w := range []string{"does not answer", "refuses to work", "full"} {
			if strings.Contains(line, "msg=\"redis "+w) || strings.Contains(line, "msg=\"redis is "+w) {
				words = append(words, w)
			}
		}
		if _, after, ok := strings.Cut(line, "after="); ok {
			words = append(words, "back after "+strings.TrimSpace(after))
		}
	}
	return strings.Join(words, ", ")
}
