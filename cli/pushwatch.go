package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"luacrawl/luabind"
)

// watch pushes each spider again whenever one of its files is saved, until ctx ends. A save with a mistake is told and not pushed.
func (p *pushing) watch(ctx context.Context, all []pushable) error {
	var pushes sync.Mutex // one at a time: a module may belong to several spiders
	var watchers sync.WaitGroup
	for _, one := range all {
		main := filepath.Base(one.file)
		spider, err := luabind.Load(os.DirFS(one.folder), main, strings.TrimSuffix(filepath.ToSlash(one.file), main), luabind.Options{Logger: p.logs.Logger})
		if err != nil {
			return usageError(err)
		}
		defer spider.Close()
		saved := func() {
			pushes.Lock()
			defer pushes.Unlock()
			if _, err := spider.Reload(nil); err != nil {
				p.logs.alarm("not pushed: " + explain(err))
				return
			}
			p.again(ctx, one.folder, main)
		}
		watchers.Go(func() {
			_ = luabind.NewWatcher(spider, one.folder, saved, p.logs.Logger).Run(ctx) // it ends with ctx only
		})
	}
	p.logs.notice("watching " + strings.Join(names(all), ", ") + ": every save is pushed, Ctrl-C ends")
	watchers.Wait()
	return nil
}

// again pushes what is on disk now.
func (p *pushing) again(ctx context.Context, folder, main string) {
	one, err := newPushable(folder, main)
	if err == nil {
		err = p.all(ctx, []pushable{one})
	}
	if err != nil && ctx.Err() == nil {
		p.logs.alarm(explain(err))
	}
}
