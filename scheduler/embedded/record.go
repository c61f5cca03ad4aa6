package embedded

import (
	"encoding/binary"
	"slices"
)

// kinds are the types that a snapshot holds; in the file a kind is its index here.
var kinds = []string{"string", "hash", "list", "set", "zset", "stream"}

// record is one key with all that it holds.
type record struct {
	db      int
	kind    string // as TYPE names it
	key     string
	expires int64    // Unix milliseconds; 0: never
	values  []string // as the command of reads answers: fields and values, members and scores in turn
}

// appendRecord writes a record whose kind is one of kinds.
func appendRecord(out []byte, r record) []byte {
	out = binary.AppendUvarint(out, uint64(r.db))
	out = binary.AppendUvarint(out, uint64(slices.Index(kinds, r.kind)))
	out = appendString(out, r.key)
	out = binary.AppendUvarint(out, uint64(r.expires))
	out = binary.AppendUvarint(out, uint64(len(r.values)))
	for _, v := range r.values {
		out = appendString(out, v)
	}
	return out
}

func appendString(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// decoder reads what appendRecord wrote. After something that does not fit, bad is set and all reads give nothing.
type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) record() (r record) {
	r.db = int(d.number(databases - 1))
	r.kind = kinds[d.number(uint64(len(kinds)-1))]
	r.key = d.string()
	r.expires = int64(d.number(1 << 62))
	n := d.number(uint64(len(d.data)))
	r.values = make([]string, 0, n)
	for range n {
		r.values = append(r.values, d.string())
	}
	return r
}

func (d *decoder) number(limit uint64) uint64 {
	v, n := binary.Uvarint(d.data)
	if d.bad || n <= 0 || v > limit {
		d.bad = true
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) string() string {
	n := d.number(uint64(len(d.data)))
	if d.bad || n > uint64(len(d.data)) {
		d.bad = true
		return ""
	}
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}
