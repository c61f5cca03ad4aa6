package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"luacrawl/engine/fetch"
	"luacrawl/engine/files"
	"luacrawl/scheduler"
)

const (
	fileBusyDelay  = 2 * time.Second  // before a look at a file that another worker is fetching
	storeDownDelay = 10 * time.Second // before a file is tried again for which the store has no room

	nobody = "\n" // the login of who keeps the jar out, in every spider: no name begins like it

	reasonNotStored = "not_stored" // the store refuses this file and no other
)

var errFileBusy = errors.New("another worker is fetching it")

// fileWork is a request for a file at work.
type fileWork struct {
	*Waiting
	store *files.Store
	use   *storeTry
}

// fileRefused is a file that the pipeline does not take.
type fileRefused struct{ reason, message string }

func (e *fileRefused) Error() string { return e.message }

// file fetches a file of an item that waits for it. Its outcome is the request for the next one, or the item: one commit or nothing, so
// that a crash anywhere neither loses the item nor doubles it.
func (p *page) file(ctx context.Context) {
	w, err := waitingOf(p.req)
	if err != nil {
		p.Logger.Warn("a request for a file could not be used and went to dead", slog.String("url", p.req.URL), slog.Any("error", err))
		p.dead(scheduler.DeadRequest, scheduler.ReasonUnreadable, err)
		return
	}
	store := p.Files[w.Order]
	if store == nil {
		err := fmt.Errorf("the spider has no pipeline files of order %v, in which the item waits; give it back and requeue this letter", w.Order)
		p.Logger.Warn("an item waits in a pipeline that is gone: the request went to dead", slog.String("url", p.req.URL), slog.Any("error", err))
		p.dead(scheduler.DeadRequest, scheduler.ReasonUnknownCallback, err)
		return
	}
	use := p.storesDown[w.Order].try()
	if use == nil {
		p.fileLater(storeDownDelay)
		return
	}
	defer use.answered()
	p.files = &fileWork{Waiting: w, store: p.storeFor(store), use: use}
	err = p.tryFile(ctx)
	var one *files.FileError
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &one):
		use.worked(p.Logger) // it has taken the claim
		p.retryOrGiveUp(ctx, &Failure{Request: p.req, Reason: reasonNotStored, Message: one.Error()}, reasonNotStored)
	case errors.Is(err, errFileBusy):
		p.fileLater(fileBusyDelay)
	case err != nil && use.failed(p.Logger, store.Store, err.Error()):
		p.fileLater(storeDownDelay)
	case err != nil: // it has come back since
		p.fileLater(fileBusyDelay)
	default:
		use.worked(p.Logger)
	}
}

// storeFor is a store as the request's login sees it: a file that a jar of its own has got is not for who has none, or another, and one that
// the default jar has got not for who keeps the jar out.
func (p *page) storeFor(store *files.Store) *files.Store {
	jar, merges, _ := jarOf(p.req)
	switch {
	case !merges || !p.Settings.CookiesEnabled:
		return store.As(nobody)
	case jar != "":
		return store.As(p.Spider.Name() + "\n" + jar)
	}
	return store
}

// fileLater puts the request back as it is: the slot is free meanwhile, and waits its turn again.
func (p *page) fileLater(after time.Duration) {
	again := *p.req
	p.count(statFilesLater, 1)
	p.out.Children = append(p.out.Children, scheduler.Child{Request: &again, Force: true, Delay: after})
}

// tryFile gets the first file that is missing. Its error means that nothing has happened and it is to be tried again: the store cannot be
// used, or another worker is at it.
func (p *page) tryFile(ctx context.Context) error {
	first := len(p.files.URLs)
	if err := p.takeKnown(ctx); err != nil {
		return err
	}
	if len(p.files.URLs) < first {
		p.goOn(ctx)
		return nil
	}
	if !p.robotsAllow(ctx) {
		return nil
	}
	release, err := p.files.store.Claim(ctx, p.files.URLs[0])
	if errors.Is(err, files.ErrClaimed) {
		return errFileBusy
	}
	if err != nil {
		return err
	}
	defer release()
	p.files.use.answered()
	if err := p.takeKnown(ctx); err != nil { // by who has had the claim before
		return err
	}
	if len(p.files.URLs) < first {
		p.goOn(ctx)
		return nil
	}
	return p.fetchFile(ctx)
}

// takeKnown takes the files that the store has, up to one that it has not.
func (p *page) takeKnown(ctx context.Context) error {
	w, first := p.files, len(p.files.URLs)
	for len(w.URLs) > 0 {
		entry, known, err := w.store.Known(ctx, w.URLs[0])
		if len(w.URLs) < first && err != nil {
			return nil // the next request meets it
		}
		if err != nil || !known {
			return err
		}
		p.gotFile(entry, FileUpToDate)
	}
	return nil
}

func (p *page) gotFile(e files.Entry, status string) {
	w := p.files
	w.Files = append(w.Files, FileResult{URL: w.URLs[0], Path: e.Path, Checksum: e.Checksum, Status: status})
	w.URLs = w.URLs[1:]
	p.count(statFiles, 1)
	p.count(statFileStatus+status, 1)
}

// fetchFile downloads the file into the store. An error is the store's.
func (p *page) fetchFile(ctx context.Context) error {
	var file *files.File
	defer func() {
		if file != nil {
			file.Discard()
		}
	}()
	header, err := p.outgoingHeader()
	if err != nil {
		p.downloadFailed(ctx, err)
		return nil
	}
	p.count(statRequests, 1)
	p.count(statMethod+http.MethodGet, 1)
	store := p.files.store
	got, err := p.Downloader.Save(ctx, &fetch.Request{Method: http.MethodGet, URL: p.req.URL, Header: header, Proxy: requestProxy(p.req)}, fetch.SaveOptions{
		MaxSize: store.MaxSize, Timeout: store.Timeout,
		To: func(status int, header http.Header) (to io.Writer, err error) {
			if status != http.StatusOK {
				return nil, nil
			}
			if !store.Takes(header.Get("Content-Type")) {
				return nil, &fileRefused{"wrong_type", fmt.Sprintf("its type is %q, which is none of %q", clip(header.Get("Content-Type")), store.Types)}
			}
			if file, err = store.Create(); err != nil {
				return nil, &fetch.WriteError{Err: err}
			}
			return file, nil
		},
	})
	var write *fetch.WriteError
	var refused *fileRefused
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &write):
		return write.Err
	case errors.As(err, &refused):
		p.fileFailed(ctx, &Failure{Request: p.req, Reason: refused.reason, Message: refused.message})
		return nil
	case err != nil:
		p.downloadFailed(ctx, err)
		return nil
	}
	p.count(statRequestBytes, got.BytesSent)
	p.count(statDownloaded, 1)
	p.count(statResponseBytes, got.BytesReceived)
	p.count(statusStat(got.Status), 1)
	resp := newResponse(p.req, got)
	p.keepCookies(resp)
	return p.fileCame(ctx, resp, file)
}

// fileCame deals with a whole response; file is nil unless its status is 200.
func (p *page) fileCame(ctx context.Context, resp *Response, file *files.File) error {
	p.heed(resp)
	switch {
	case p.isRedirect(resp):
		p.redirect(ctx, resp)
	case file == nil:
		p.unwanted(ctx, resp)
	case file.Size() == 0:
		p.count(statResponses, 1)
		p.fileFailed(ctx, &Failure{Request: p.req, Reason: "empty", Message: "it has no content"})
	default:
		entry, err := file.Keep(ctx, p.files.URLs[0], resp.Header.Get("Content-Type"))
		if err != nil {
			return err
		}
		p.count(statResponses, 1)
		p.gotFile(entry, FileDownloaded)
		p.goOn(ctx)
	}
	return nil
}

// fileFailed gives a file up. The item goes on without it.
func (p *page) fileFailed(ctx context.Context, f *Failure) {
	p.count(statFileErrors, 1)
	p.count(statFileError+f.Reason, 1)
	p.Logger.Warn("a file could not be had; its item goes on without it", slog.String("url", p.files.URLs[0]), slog.String("reason", f.Reason), slog.String("error", f.Message))
	p.files.URLs = p.files.URLs[1:]
	p.goOn(ctx)
}

// goOn asks for the next file, or takes the item on its way when there is none.
func (p *page) goOn(ctx context.Context) {
	w := p.files
	if len(w.URLs) > 0 {
		if err := p.await([]Waiting{*w.Waiting}, p.req.Depth, p.req.Revision); err != nil {
			p.fail(err)
		}
		return
	}
	out, err := p.callSpider(ctx, func(ctx context.Context) (*Output, error) {
		return p.Spider.(ItemFinisher).Finish(ctx, p.req, w.Waiting) // New has checked it
	})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.callFailed(err)
		return
	}
	p.take(out, p.req.Depth)
}
