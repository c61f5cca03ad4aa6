package redistest

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Strings sends one command and returns its reply as a flat list of strings: no element for nil, one for a single value.
func (s *Server) Strings(command ...any) []string {
	s.t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	reply, err := client.Do(context.Background(), command...).Result()
	if err != nil && err != redis.Nil {
		s.t.Fatalf("redis %v: %v", command, err)
	}
	var flat []string
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case nil:
		case []any:
			for _, one := range v {
				add(one)
			}
		default:
			flat = append(flat, fmt.Sprint(v))
		}
	}
	add(reply)
	return flat
}
