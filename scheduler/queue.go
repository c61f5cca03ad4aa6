package scheduler

import "strconv"

// Queue is the order of requests within a slot.
type Queue string

// Queue orders.
const (
	QueuePriority Queue = "priority" // highest priority first, then first in first out
	QueueFIFO     Queue = "fifo"
	QueueLIFO     Queue = "lifo"
)

// score is a request's place in its queue: scrapy-redis' -priority, or one for all, so that the sequence decides.
func (q Queue) score(r *Request) string {
	if q != QueuePriority {
		return "0"
	}
	const exact = 1 << 53 // scores are float64
	return strconv.FormatInt(int64(-max(-exact, min(r.Priority, exact))), 10)
}
