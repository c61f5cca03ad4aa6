package host

import "log/slog"

// Voice is how something that runs speaks to a person.
type Voice struct {
	Logger   *slog.Logger
	Notice   func(line string)       // for a person at the command line
	Alarm    func(line string)       // for a person who has to act on it, whatever is hidden else
	SetLevel func(name string) error // takes the setting log_level
	Explain  func(err error) string  // the error with the way to it
}
