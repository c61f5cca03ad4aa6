package embedded

import (
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// liveness ends the keys that say which workers are alive: those of a snapshot are not.
const liveness = ":workers"

// restore puts a key back; it is false for values that cannot be the kind's. What has expired meanwhile is left out, and so is liveness.
func restore(m *miniredis.Miniredis, r record) bool {
	left := time.Until(time.UnixMilli(r.expires))
	if r.expires > 0 && left <= 0 {
		return true
	}
	if len(r.values) == 0 || strings.HasSuffix(r.key, liveness) {
		return true
	}
	if r.kind == "stream" {
		if !restoreStream(m, r) {
			return false
		}
	} else if !restoreValues(m.DB(r.db), r) {
		return false
	}
	if r.expires > 0 {
		m.DB(r.db).SetTTL(r.key, left)
	}
	return true
}

func restoreValues(db *miniredis.RedisDB, r record) bool {
	n := len(r.values)
	var err error
	switch r.kind {
	case "string":
		if n != 1 {
			return false
		}
		err = db.Set(r.key, r.values[0])
	case "hash":
		if n%2 != 0 {
			return false
		}
		db.HSet(r.key, r.values...)
	case "list":
		_, err = db.Push(r.key, r.values...)
	case "set":
		_, err = db.SetAdd(r.key, r.values...)
	case "zset":
		err = restoreScores(db, r)
	}
	return err == nil
}

func restoreScores(db *miniredis.RedisDB, r record) error {
	if len(r.values)%2 != 0 {
		return strconv.ErrSyntax
	}
	for i := 0; i < len(r.values); i += 2 {
		score, err := strconv.ParseFloat(r.values[i+1], 64)
		if err != nil {
			return err
		}
		if _, err := db.ZAdd(r.key, score, r.values[i]); err != nil {
			return err
		}
	}
	return nil
}
