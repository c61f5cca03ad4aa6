package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"luacrawl/scheduler"
)

// confirmEvery is how often the workers' reports are read while a push waits for them.
const confirmEvery = 100 * time.Millisecond

// confirmation waits until every worker that is to run a spider runs a revision of it.
type confirmation struct {
	*fleet
	spider, revision string
	version          int64           // of the entry
	awaited          map[string]bool // IDs of the workers that were alive at some time of the wait
	told             map[string]bool // what was said, by ID
}

// outcome is what the workers' reports say at one time.
type outcome struct {
	missing []string // have not confirmed
	failed  []string // cannot run it
}

// wait says host by host who runs the revision. It fails when one cannot, and names those that have not confirmed within limit.
func (w *confirmation) wait(ctx context.Context, limit time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	entry, err := w.RegistryEntry(waiting, w.spider)
	if err != nil {
		return w.over(ctx, limit, outcome{}, err)
	}
	if entry.State == scheduler.Stopped {
		w.logs.notice(w.spider + ": stopped, so no host loads it")
		return nil
	}
	w.awaited, w.told = map[string]bool{}, map[string]bool{}
	ticker := time.NewTicker(confirmEvery)
	defer ticker.Stop()
	for last := (outcome{}); ; {
		now, err := w.look(waiting)
		if err == nil && len(now.missing) > 0 {
			err = w.superseded(waiting)
		}
		switch {
		case err != nil:
			return w.over(ctx, limit, last, err)
		case len(now.missing) == 0:
			return w.verdict(now.failed)
		}
		last = now
		select {
		case <-waiting.Done():
			return w.over(ctx, limit, last, waiting.Err())
		case <-ticker.C:
		}
	}
}

// superseded is an error when the fleet is to run another revision by now: nobody will confirm this one. What cannot be read says nothing.
func (w *confirmation) superseded(ctx context.Context) error {
	entry, err := w.RegistryEntry(ctx, w.spider)
	switch {
	case errors.Is(err, scheduler.ErrNoEntry):
		return fmt.Errorf("%s: revision %s is not confirmed: the spider was removed from the fleet in the meantime", w.spider, short(w.revision))
	case err != nil || entry.Revision == w.revision:
		return nil
	}
	return fmt.Errorf("%s: revision %s is not confirmed: it was superseded by revision %s of %s (%s)",
		w.spider, short(w.revision), short(entry.Revision), cmp.Or(entry.Author, "somebody"), entry.Time.Format(time.RFC3339))
}

// over is the end of a wait that an error has ended, which may be its time limit.
func (w *confirmation) over(ctx context.Context, limit time.Duration, last outcome, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return err
	}
	start := fmt.Sprintf("%s: revision %s is not confirmed within %s", w.spider, short(w.revision), limit)
	if len(last.missing) == 0 {
		return fmt.Errorf("%s: %w", start, err) // Redis has not answered
	}
	text := start + " by: " + strings.Join(last.missing, ", ")
	if len(last.failed) > 0 {
		text += "; refused by: " + strings.Join(last.failed, ", ")
	}
	return errors.New(text)
}

// verdict is the end of a wait in which every host has answered.
func (w *confirmation) verdict(failed []string) error {
	if len(failed) > 0 {
		return fmt.Errorf("%s: revision %s cannot be run by: %s; luacrawl workers says why", w.spider, short(w.revision), strings.Join(failed, ", "))
	}
	if len(w.awaited) == 0 {
		return fmt.Errorf("%s: no worker is alive to confirm revision %s; start one with \"luacrawl worker --redis URL\"", w.spider, short(w.revision))
	}
	return nil
}

// look reads the workers' reports once and tells what is new in them. A worker that was silent before the wait is not waited for, one that falls
// silent in it is: it may come back with another revision.
func (w *confirmation) look(ctx context.Context) (outcome, error) {
	workers, err := w.Workers(ctx)
	if err != nil {
		return outcome{}, err
	}
	var now outcome
	for _, worker := range workers {
		name := fmt.Sprintf("%s:%d", worker.Host, worker.PID)
		if worker.Kind != "worker" || len(worker.Only) > 0 && !slices.Contains(worker.Only, w.spider) {
			continue
		}
		if !worker.Alive && !w.awaited[worker.ID] {
			w.tell("silent "+worker.ID, fmt.Sprintf("%s: silent since %s, not waited for", name, time.Now().Add(-worker.Silent).UTC().Format(time.RFC3339)))
			continue
		}
		w.awaited[worker.ID] = true
		switch report := reportOf(worker, w.spider); {
		case report != nil && report.Version >= w.version && report.Revision == w.revision: // an error beside it is of something else
			w.tell(worker.ID, fmt.Sprintf("%s: runs revision %s", name, short(report.Revision)))
		case report != nil && report.Version == w.version && report.Error != "":
			now.failed = append(now.failed, name)
			w.tell("refused "+worker.ID, fmt.Sprintf("%s: refused: %s", name, report.Error))
		default:
			now.missing = append(now.missing, name+silence(worker))
		}
	}
	return now, nil
}

// silence says that a worker has not been heard of lately.
func silence(w scheduler.WorkerReport) string {
	if w.Alive {
		return ""
	}
	return " (silent)"
}

func (w *confirmation) tell(id, line string) {
	if !w.told[id] {
		w.told[id] = true
		w.logs.notice("  " + line)
	}
}

// reportOf is a worker's report of a spider, nil when it does not run it.
func reportOf(worker scheduler.WorkerReport, spider string) *scheduler.SpiderReport {
	for i := range worker.Spiders {
		if worker.Spiders[i].Spider == spider {
			return &worker.Spiders[i]
		}
	}
	return nil
}
