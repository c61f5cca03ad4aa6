package host

import (
	"fmt"
	"time"

	"luacrawl/scheduler"
)

// AgreeError says that a revision runs whose settings the fleet does not know yet: take it again.
type AgreeError struct{ Err error }

func (e *AgreeError) Error() string {
	return fmt.Sprintf("the settings of the fleet are those of before: %v", e.Err)
}

func (e *AgreeError) Unwrap() error { return e.Err }

// disagreed tells that the fleet does not know the settings of an entry yet, which is tried again and not confirmed meanwhile.
func (r *resident) disagreed(e scheduler.Entry, err error) {
	r.again = time.Now().Add(mendEvery)
	r.mu.Lock()
	r.broken = err
	r.mu.Unlock()
	if text := fmt.Sprint(e.Version, " ", err); text != r.refused {
		r.refused = text
		r.voice.Alarm(r.voice.Explain(err))
	}
	r.host.reporter.Nudge()
}
