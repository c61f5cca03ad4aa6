package cli

import (
	"context"
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
	version          int64 // of the entry
	told             map[string]bool
}

// wait says host by host who runs the revision. It fails when one cannot, and names those that have not confirmed within limit.
func (w *confirmation) wait(ctx context.Context, limit time.Duration) error {
	entry, err := w.RegistryEntry(ctx, w.spider)
	if err != nil {
		return err
	}
	if entry.State == scheduler.Stopped {
		w.logs.notice(w.spider + ": stopped, so no host loads it")
		return nil
	}
	w.told = map[string]bool{}
	timeout, ticker := time.NewTimer(limit), time.NewTicker(confirmEvery)
	defer timeout.Stop()
	defer ticker.Stop()
	for {
		missing, failed, err := w.look(ctx)
		if err != nil || len(missing) == 0 {
			return firstError(err, w.verdict(failed))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout.C:
			return fmt.Errorf("%s: revision %s is not confirmed within %s by: %s%s", w.spider, short(w.revision), limit, strings.Join(missing, ", "), alsoFailed(failed))
		case <-ticker.C:
		}
	}
}

func alsoFailed(failed []string) string {
	if len(failed) == 0 {
		return ""
	}
	return "; refused by: " + strings.Join(failed, ", ")
}

// verdict is the end of a wait in which every host has answered.
func (w *confirmation) verdict(failed []string) error {
	if len(failed) > 0 {
		return fmt.Errorf("%s: revision %s cannot be run by: %s; luacrawl workers says why", w.spider, short(w.revision), strings.Join(failed, ", "))
	}
	if len(w.told) == 0 {
		return fmt.Errorf("%s: no worker is alive to confirm revision %s; start one with \"luacrawl worker --redis URL\"", w.spider, short(w.revision))
	}
	return nil
}

// look reads the workers' reports once and tells what is new in them.
func (w *confirmation) look(ctx context.Context) (missing, failed []string, err error) {
	workers, err := w.Workers(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, worker := range workers {
		name := fmt.Sprintf("%s:%d", worker.Host, worker.PID)
		concerned := worker.Kind == "worker" && (len(worker.Only) == 0 || slices.Contains(worker.Only, w.spider))
		if !concerned || !worker.Alive && !w.told[name] {
			continue
		}
		switch report := reportOf(worker, w.spider); {
		case report == nil || report.Version < w.version:
			missing = append(missing, name)
		case report.Error != "":
			failed = append(failed, name)
			w.tell(name, fmt.Sprintf("%s: refused: %s", name, report.Error))
		default:
			w.tell(name, fmt.Sprintf("%s: runs revision %s", name, short(report.Revision)))
		}
	}
	return missing, failed, nil
}

func (w *confirmation) tell(name, line string) {
	if !w.told[name] {
		w.told[name] = true
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
