package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"luacrawl/cli/host"
	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/scheduler"
)

const (
	hostGone   = 15 * time.Second // a joined embedded Redis that is silent for so long has ended
	othersWait = 5 * time.Second  // for those who joined our embedded Redis to see the end
)

// crawl is one job on its way: run fills the fields in the order in which they stand.
type crawl struct {
	job      *job
	logs     *logs
	screen   *screen
	stop     *interrupts
	spider   *luabind.Spider
	settings engine.Settings
	worker   string
	shows    *observed
	stdout   io.Writer

	place  *place
	output *output
	host   *host.Crawl
}

// run opens what a crawl needs, crawls, tells how it ended, and closes everything.
func (c *crawl) run(ctx context.Context) (err error) {
	if c.output, err = openOutput(c.job.output, c.stdout); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.output.close()) }()
	if c.place, err = c.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.place.close()) }()
	if err = c.join(ctx); err != nil {
		return err
	}
	c.shows.connected(c.place.client)
	c.shows.spiders(func() []host.Watched { return []host.Watched{c.host.Watched()} })
	c.stop.onSecond(c.host.Kill)
	c.announce()
	err = c.work(ctx)
	if errors.Is(err, errHostGone) {
		return err // there is nobody to say goodbye to
	}
	err = errors.Join(err, c.host.Close(ctx))
	if err == nil && c.place.embedded() && !c.place.joined() {
		c.waitForOthers(ctx)
	}
	return err
}

func (c *crawl) open(ctx context.Context) (*place, error) {
	if c.job.demo != nil {
		return c.job.where.embed(ctx, 0, c.logs)
	}
	return c.job.where.open(ctx, c.logs)
}

// join opens the crawl. An embedded crawl that had finished starts anew, with nothing left of the one before; one that was
// interrupted goes on.
func (c *crawl) join(ctx context.Context) (err error) {
	anew := c.job.fresh || c.settings.FlushOnStart
	if !anew && c.place.embedded() && !c.place.joined() {
		before, err := c.place.client.Status(ctx, c.spider.Name(), c.settings.Keys)
		if err != nil {
			return err
		}
		anew = before.Finished
	}
	if anew && c.place.embedded() && !c.place.joined() {
		// nobody else can be at work there
		all := scheduler.FlushOptions{Force: true, Items: true, Dead: true, Stats: true, Message: "the crawl begins anew"}
		if err := c.place.client.Flush(ctx, c.spider.Name(), c.settings.Keys, all); err != nil {
			return err
		}
		anew = false
	}
	c.host, err = host.Open(ctx, host.CrawlOptions{
		Client: c.place.client, Spider: c.spider, Source: c.job.source.host(), Voice: c.logs.voice(), Worker: c.worker,
		Seeds: c.job.seeds, UntilDone: c.job.untilDone, Flush: anew, OnItems: c.onItems,
		Observer: c.shows.of(c.spider.Name()),
	})
	if err == nil && c.job.fresh {
		if err = c.output.empty(); err != nil {
			err = errors.Join(err, c.host.Close(ctx))
		}
	}
	return err
}

// announce says what runs, where, and what is promised.
func (c *crawl) announce() {
	l, name := c.logs, c.spider.Name()
	l.notice(fmt.Sprintf("%s (%s, revision %s) on %s", name, c.job.source, short(c.spider.Revision()), c.place))
	if c.job.demo != nil {
		l.notice("a site of made-up news at " + c.job.demo.URL)
		return
	}
	if c.place.embedded() {
		l.notice("after kill -9 an embedded crawl goes back to its last snapshot, items included: only with --redis is nothing lost and nothing stored twice")
	}
	for _, line := range host.Reminders(c.settings) {
		l.notice(line)
	}
	if !c.job.untilDone {
		l.notice("waiting for seeds, Ctrl-C ends: " + c.place.lpush(name, c.settings.Keys))
	}
}

// short is enough of a revision to tell it from others.
func short(revision string) string { return revision[:min(len(revision), 12)] }

// work crawls and prints the summary.
func (c *crawl) work(ctx context.Context) error {
	loops, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	shown := &progress{logs: c.logs, screen: c.screen, name: c.spider.Name(), ask: c.host.Progress, embedded: c.place.embedded(), unmended: c.host.Unmended}
	wg.Go(func() { shown.Run(loops) })
	if c.job.source.folder != "" {
		wg.Go(func() {
			_ = luabind.NewWatcher(c.spider, c.job.source.folder, c.host.Reload, c.logs.Logger).Run(loops) // it ends with loops only
		})
	}
	if c.place.joined() {
		wg.Go(func() { c.watchHost(loops) })
	}
	if !c.place.embedded() {
		who := host.Identity{Worker: c.worker, Kind: "run", Tool: readVersion().Version}
		wg.Go(func() { _ = c.host.Member(loops, who) }) // it has said what it could not tell
	}
	ended, err := c.host.Run(ctx)
	cancel()
	wg.Wait()
	summary{c.host.Ended(ctx, ended)}.tell(c.logs, c.screen)
	if failure := c.stop.failure(); failure != nil {
		return failure
	}
	return err
}

// onItems gets items that Redis has taken.
func (c *crawl) onItems(items []engine.Item) error {
	var err error
	switch {
	case c.output != nil:
		err = c.output.write(items)
	case c.job.demo != nil:
		err = c.job.demo.show(c.stdout, items)
	}
	if err != nil {
		return fmt.Errorf("%w; the items are kept in Redis, and the crawl goes on where it stopped when it is run again", err)
	}
	return nil
}

var errHostGone = errors.New("the luacrawl that served the embedded redis has ended")

// watchHost ends a run whose embedded Redis was another process' that has ended.
func (c *crawl) watchHost(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if down := c.host.Progress().Down; !down.IsZero() && now.Sub(down) > hostGone {
				c.stop.fail(fmt.Errorf("%w (folder %s): run again to go on from its snapshot", errHostGone, c.place.dir))
				c.host.Kill() // nothing that still runs can be stored
				return
			}
		}
	}
}

// waitForOthers keeps serving the embedded Redis until those who joined it have seen the end too. An interrupt ends it.
func (c *crawl) waitForOthers(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, othersWait)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		status, err := c.place.client.Status(waiting, c.spider.Name(), c.settings.Keys)
		if err != nil || len(status.Workers) == 0 {
			return
		}
		select {
		case <-waiting.Done():
			return
		case <-ticker.C:
		}
	}
}
