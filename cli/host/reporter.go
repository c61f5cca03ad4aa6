package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"luacrawl/scheduler"
)

const (
	reportEvery = time.Second
	reportTTL   = 5 * time.Second
	leaveWait   = 2 * time.Second // after it a process that has left is forgotten by itself
)

// Identity is who a process of the fleet is.
type Identity struct {
	Worker string   // names this process to others: host:pid
	Kind   string   // worker, or run for a pinned file
	Tool   string   // version of luacrawl
	Only   []string // spiders that it runs; none means all of the fleet
}

// Reporter tells the fleet what this process runs, every second and whenever it is nudged.
type Reporter struct {
	client  *scheduler.Client
	voice   Voice
	report  scheduler.WorkerReport // what does not change
	spiders func() []scheduler.SpiderReport
	heard   func(ctx context.Context, version int64) // of the registry, after each report; nil when nobody cares
	nudged  chan struct{}                            // holds one
	failed  string                                   // only Run's goroutine; what was said of reports that fail
}

// NewReporter makes a Reporter. It does nothing until Run.
func NewReporter(c *scheduler.Client, v Voice, who Identity, spiders func() []scheduler.SpiderReport, heard func(context.Context, int64)) *Reporter {
	at := max(strings.LastIndexByte(who.Worker, ':'), 0)
	pid, _ := strconv.Atoi(strings.TrimPrefix(who.Worker[at:], ":")) // a name of another form has none
	var nonce [4]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	return &Reporter{
		client: c, voice: v, spiders: spiders, heard: heard, nudged: make(chan struct{}, 1),
		report: scheduler.WorkerReport{
			ID: who.Worker + "#" + hex.EncodeToString(nonce[:]), Host: who.Worker[:at], PID: pid, Kind: who.Kind, Tool: who.Tool, Only: who.Only, Started: time.Now().UTC(),
		},
	}
}

// Nudge makes it report at once.
func (r *Reporter) Nudge() {
	select {
	case r.nudged <- struct{}{}:
	default:
	}
}

// Run reports until ctx ends, and then takes the process off the list of workers.
func (r *Reporter) Run(ctx context.Context) error {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		version, err := r.client.Report(ctx, r.now(), reportTTL)
		switch {
		case ctx.Err() != nil:
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
			defer cancel()
			return r.client.Unreport(leaving, r.report.ID)
		case err != nil && err.Error() != r.failed:
			r.failed = err.Error()
			r.voice.Logger.Warn("the fleet cannot be told what runs here", "error", err)
		case err == nil:
			r.failed = ""
			if r.heard != nil {
				r.heard(ctx, version)
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-r.nudged:
		}
	}
}

func (r *Reporter) now() scheduler.WorkerReport {
	report := r.report
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(sample)
	report.Heap, report.Goroutines = int64(sample[0].Value.Uint64()), int(sample[1].Value.Uint64())
	report.Spiders = r.spiders()
	return report
}
