package cli

import (
	"strings"

	"luacrawl/cli/host"
)

// notSettings are variables with the prefix of settings that mean something else: to this command, and to the tests and benchmarks.
var notSettings = []string{envRedis, envNamespace, "LUACRAWL_SOAK", "LUACRAWL_SITES"}

// layers are the settings from outside of the spider: the environment's, and those of --set or that a command sets itself.
func layers(environ []string, sets map[string]string) host.Layers {
	return host.Layers{Env: host.FromEnv(environ, notSettings), Sets: sets}
}

// pairs reads the NAME=VALUE of a repeatable flag; the last value of a name wins.
func pairs(flag string, values []string) (map[string]string, error) {
	m := make(map[string]string, len(values))
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, usagef("%s %q: write NAME=VALUE", flag, v)
		}
		m[name] = value
	}
	return m, nil
}
