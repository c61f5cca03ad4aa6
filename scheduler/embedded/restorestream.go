package embedded

import (
	"bufio"
	"strconv"

	"github.com/alicebob/miniredis/v2"
)

// texts are values that are read one after another. After the last, bad is set and all reads give nothing.
type texts struct {
	left []string
	bad  bool
}

func (t *texts) next() string {
	if len(t.left) == 0 {
		t.bad = true
		return ""
	}
	text := t.left[0]
	t.left = t.left[1:]
	return text
}

// take is a number and so many times each texts.
func (t *texts) take(each int) []string {
	n, err := strconv.Atoi(t.next())
	if err != nil || n < 0 || n > len(t.left)/each {
		t.bad = true
		return nil
	}
	taken := t.left[:n*each]
	t.left = t.left[n*each:]
	return taken
}

// restoreStream puts a stream back, as readScript describes it. What was pending is so with the same consumers, as if delivered now.
func restoreStream(m *miniredis.Miniredis, r record) bool {
	conn, err := m.Dial()
	if err != nil {
		return false
	}
	defer conn.Close()
	replies := bufio.NewReader(conn)
	tell := func(args ...string) bool {
		_, err := ask(conn, replies, args...)
		return err == nil
	}
	if !tell("SELECT", strconv.Itoa(r.db)) {
		return false
	}
	t := &texts{left: r.values}
	for id := t.next(); id != ""; id = t.next() {
		if _, err := m.DB(r.db).XAdd(r.key, id, t.take(1)); err != nil || t.bad {
			return false
		}
	}
	if t.bad {
		return false
	}
	for len(t.left) > 0 {
		name, last := t.next(), t.next()
		pending := t.take(2)
		if t.bad || !tell("XGROUP", "CREATE", r.key, name, last, "MKSTREAM") {
			return false
		}
		for i := 0; i < len(pending); i += 2 {
			if !tell("XCLAIM", r.key, name, pending[i+1], "0", pending[i], "FORCE", "JUSTID") {
				return false
			}
		}
	}
	return true
}
