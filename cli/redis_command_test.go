package cli_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

// redisCommands are what a script does with its Redis, as a person would with redis-cli: "redis NAME ARGUMENT...".
var redisCommands = map[string]struct {
	arguments int
	run       func(ts *testscript.TestScript, m *miniredis.Miniredis, args []string) error
}{
	"lpush": {2, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		_, err := m.Lpush(a[0], a[1])
		return err
	}},
	"rpush": {2, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		_, err := m.RPush(a[0], a[1])
		return err
	}},
	"rpushfile": {2, func(ts *testscript.TestScript, m *miniredis.Miniredis, a []string) error { // the file's bytes are one value
		value, err := os.ReadFile(ts.MkAbs(a[1]))
		if err == nil {
			_, err = m.RPush(a[0], string(value))
		}
		return err
	}},
	"sadd": {2, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		_, err := m.SAdd(a[0], a[1])
		return err
	}},
	"zadd": {3, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		score, err := strconv.ParseFloat(a[1], 64)
		if err == nil {
			_, err = m.ZAdd(a[0], score, a[2])
		}
		return err
	}},
	"hset": {3, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		m.HSet(a[0], a[1:]...)
		return nil
	}},
	"set": {2, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error { return m.Set(a[0], a[1]) }},
	"del": {1, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error { m.Del(a[0]); return nil }},
	"password": {1, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		m.Close() // it reads the password without a lock, so nobody may be connected
		m.RequireAuth(a[0])
		return m.Restart()
	}},
	"list": {1, func(ts *testscript.TestScript, m *miniredis.Miniredis, a []string) error { // one value a line on standard output
		values, _ := m.List(a[0]) // a missing key is an empty list
		for _, v := range values {
			fmt.Fprintln(ts.Stdout(), v)
		}
		return nil
	}},
	"stream": {1, func(ts *testscript.TestScript, m *miniredis.Miniredis, a []string) error { // one entry a line
		entries, err := m.Stream(a[0])
		for _, e := range entries {
			fmt.Fprintln(ts.Stdout(), strings.Join(e.Values, " "))
		}
		return err
	}},
	"xadd": {3, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		_, err := m.XAdd(a[0], "*", a[1:])
		return err
	}},
	"len": {2, func(_ *testscript.TestScript, m *miniredis.Miniredis, a []string) error {
		values, _ := m.List(a[0])
		if got := strconv.Itoa(len(values)); got != a[1] {
			return fmt.Errorf("%s has %s values, want %s: %.2000q", a[0], got, a[1], values)
		}
		return nil
	}},
}

func redisCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg && args[0] != "len" || len(args) == 0 || len(args)-1 != redisCommands[args[0]].arguments {
		ts.Fatalf("usage: redis lpush|rpush|rpushfile|sadd|zadd|hset|set|del|password|list|stream|xadd|len ARGUMENT...: got %q", args)
	}
	err := redisCommands[args[0]].run(ts, ts.Value(redisKey{}).(*miniredis.Miniredis), args[1:])
	if neg && err == nil {
		ts.Fatalf("%q holds", args)
	}
	if !neg {
		ts.Check(err)
	}
}
