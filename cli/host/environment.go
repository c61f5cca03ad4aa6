package host

import (
	"slices"
	"strings"
)

// envPrefix begins the environment variables that are settings: LUACRAWL_DOWNLOAD_DELAY is download_delay.
const envPrefix = "LUACRAWL_"

// FromEnv picks the settings out of an environment (NAME=VALUE). Variables with the prefix that mean something else are named by
// others; an empty variable is as good as none.
func FromEnv(environ []string, others []string) map[string]string {
	env := map[string]string{}
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(variable, envPrefix) && value != "" && !slices.Contains(others, variable) {
			env[variable] = value
		}
	}
	return env
}

// EnvSetting is the setting that a variable gives a value.
func EnvSetting(variable string) string {
	return strings.ToLower(strings.TrimPrefix(variable, envPrefix))
}

func envVariable(setting string) string { return envPrefix + strings.ToUpper(setting) }
