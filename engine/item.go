package engine

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"luacrawl/scheduler"
)

// Item is one scraped item: a flat JSON object in UTF-8, keys sorted, & < > not escaped.
type Item json.RawMessage

// withMeta adds the keys revision and item_id; an item that has a key of that name keeps its own.
func (it Item) withMeta(revision, id string) (Item, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(it, &fields); err != nil {
		return nil, fmt.Errorf("item is not a JSON object: %w", err)
	}
	for name, value := range map[string]string{"revision": revision, "item_id": id} {
		if _, own := fields[name]; !own {
			fields[name] = json.RawMessage(strconv.Quote(value))
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return nil, fmt.Errorf("item: %w", err)
	}
	return Item(bytes.TrimRight(b.Bytes(), "\n")), nil
}

// itemID is ItemID for an item of the page.
func (p *page) itemID(about ItemInfo) string {
	return ItemID(p.Spider.Name(), p.req, p.lease.Seed, about)
}

// ItemID is the same each time the same page gives the same item: SHA1 of spider, request fingerprint (or seed), and the item's key or else
// its number.
func ItemID(spider string, request *scheduler.Request, seed []byte, about ItemInfo) string {
	h := sha1.New()
	h.Write([]byte(spider + "\x00"))
	if about.Origin != "" {
		h.Write([]byte(about.Origin))
	} else if request != nil {
		fp := request.Fingerprint()
		h.Write(fp[:])
	} else {
		h.Write(seed)
	}
	h.Write([]byte{0}) // "1" and 10 are not "11" and 0
	if about.Key != "" {
		h.Write([]byte(about.Kind + "\x00" + about.Key))
	} else {
		h.Write([]byte(strconv.Itoa(about.Number)))
	}
	return hex.EncodeToString(h.Sum(nil))
}
