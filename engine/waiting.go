package engine

import (
	"bytes"
	"encoding/json"
	"fmt"

	"luacrawl/scheduler"
)

// Waiting is an item that goes on when its files are there.
type Waiting struct {
	ItemInfo
	Item  Item
	Order float64      // of the pipeline in which it waits
	URLs  []string     // of files that are not there yet; normalised
	Files []FileResult // those that are, in the order of their URLs
}

// FileResult is what an item gets for one of its files, with Scrapy's names.
type FileResult struct {
	URL      string `json:"url"`
	Path     string `json:"path"`
	Checksum string `json:"checksum"` // SHA-256 of the content, in hex
	Status   string `json:"status"`   // FileDownloaded or FileUpToDate
}

// Statuses of files.
const (
	FileDownloaded = "downloaded"
	FileUpToDate   = "uptodate" // it was in the store
)

const (
	waitingKey    = scheduler.FilesCallback // in the request's meta
	filePriority  = 10                      // above the page's: an item waits
	mostWaiting   = scheduler.MaxMember - 8<<10
	mostFileBytes = 256 // that a file's result takes beside its URL
)

// waitingWire is a Waiting in the meta of a request.
type waitingWire struct {
	Item   json.RawMessage `json:"item"`
	Number int             `json:"number"`
	Kind   string          `json:"kind,omitempty"`
	Key    string          `json:"key,omitempty"`
	Origin []byte          `json:"origin"`
	Order  float64         `json:"order"`
	URLs   []string        `json:"urls"`
	Files  []FileResult    `json:"files,omitempty"`
}

// request is the request for the first of the files that are missing. The item goes with it, so that it is in the frontier like any work:
// whoever dies on the way, somebody else goes on.
// way is what it inherits of its page's meta.
func (w *Waiting) request(way map[string]json.RawMessage, depth, priority int, revision string) (*scheduler.Request, error) {
	wire := waitingWire{
		Item: json.RawMessage(w.Item), Number: w.Number, Kind: w.Kind, Key: w.Key, Origin: []byte(w.Origin), Order: w.Order, URLs: w.URLs, Files: w.Files,
	}
	meta := map[string]any{waitingKey: wire}
	for key, value := range way {
		meta[key] = value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(meta); err != nil {
		return nil, fmt.Errorf("item that waits for files: %w", err)
	}
	if n := b.Len() + mostFileBytes*len(w.URLs); n > mostWaiting {
		return nil, fmt.Errorf("an item that waits for files may have %d bytes with what becomes of its files, and this one has %d", mostWaiting, n)
	}
	return &scheduler.Request{
		URL: w.URLs[0], Callback: scheduler.FilesCallback, Meta: bytes.TrimSpace(b.Bytes()), DontFilter: true,
		Priority: priority, Depth: depth, Revision: revision,
	}, nil
}

// wayOf is what of a page's meta holds for its files, too: the login that sees them and the way to their site.
func wayOf(page *scheduler.Request) map[string]json.RawMessage {
	way := map[string]json.RawMessage{}
	for _, key := range []string{"cookiejar", "dont_merge_cookies", "proxy"} {
		var value json.RawMessage
		if metaValue(page, key, &value) {
			way[key] = value
		}
	}
	return way
}

// waitingOf reads the item that a request brings along.
func waitingOf(r *scheduler.Request) (*Waiting, error) {
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(r.Meta, &meta); err != nil {
		return nil, fmt.Errorf("a request for a file without its item: %w", err)
	}
	var wire waitingWire
	if err := json.Unmarshal(meta[waitingKey], &wire); err != nil {
		return nil, fmt.Errorf("a request for a file without its item: %w", err)
	}
	if len(wire.URLs) == 0 || len(wire.Item) == 0 || wire.Item[0] != '{' {
		return nil, fmt.Errorf("a request for a file without its item: it has %d URLs and an item of %d bytes", len(wire.URLs), len(wire.Item))
	}
	return &Waiting{
		ItemInfo: ItemInfo{Number: wire.Number, Kind: wire.Kind, Key: wire.Key, Origin: string(wire.Origin)},
		Item:     Item(wire.Item), Order: wire.Order, URLs: wire.URLs, Files: wire.Files,
	}, nil
}

// await adds, for each item that waits, the request for its first file.
func (p *page) await(items []Waiting, depth int, revision string) error {
	priority := filePriority
	if p.files != nil {
		priority = p.req.Priority
	} else if p.req != nil {
		priority += p.req.Priority
	}
	var way map[string]json.RawMessage
	if len(items) > 0 && p.req != nil {
		way = wayOf(p.req)
	}
	for _, w := range items {
		if p.Files[w.Order] == nil {
			return fmt.Errorf("the spider's pipelines are not those that the crawl was started with: start it anew")
		}
		if w.Origin == "" {
			w.Origin = p.origin()
		}
		r, err := w.request(way, depth, priority, revision)
		if err != nil {
			p.itemFailed(FailedItem{Item: w.Item, Err: &ScriptError{Kind: "error", Message: err.Error(), Revision: revision}})
			continue
		}
		p.out.Children = append(p.out.Children, scheduler.Child{Request: r, Force: true})
	}
	return nil
}

// origin is what the IDs of the page's items are made of.
func (p *page) origin() string {
	if p.req == nil {
		return string(p.lease.Seed)
	}
	fp := p.req.Fingerprint()
	return string(fp[:])
}
