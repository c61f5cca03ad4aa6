package luabind

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
)

// retryAsked is the error value of retry, which ends the whole call.
type retryAsked struct{ asked *engine.RetryError }

const (
	mostRetryDelay = 24 * 60 * 60 // seconds
	mostRetryTimes = 1000
)

// retry is the global retry(reason[, options]): the page at hand is no good and may be better later. It unwinds the callback or errback,
// nothing of which is kept, and the page's request is tried again as after a failed download.
func (v *vm) retry(L *lua.LState) int {
	switch {
	case v.out == nil || !v.out.retries:
		L.RaiseError("retry is for callbacks and errbacks: it fetches the page of their request again")
	case v.out.processing:
		L.RaiseError("retry is for callbacks and errbacks; process_item and pipelines drop an item, or raise")
	}
	reason, ok := L.Get(1).(lua.LString)
	if !ok || strings.TrimSpace(string(reason)) == "" {
		L.RaiseError("retry needs a reason, as in retry(\"empty page\"), got %s", L.Get(1).Type())
	}
	asked := &engine.RetryError{Reason: clipText(string(reason))}
	switch options := L.Get(2).(type) {
	case *lua.LNilType:
	case *lua.LTable:
		setRetryOptions(L, asked, options)
	default:
		L.RaiseError("retry: the options are a %s; they must be a table, as in { delay = 30 }", options.Type())
	}
	ud := L.NewUserData()
	ud.Value = &retryAsked{asked}
	L.Error(ud, 0)
	return 0
}

// retryOptions set what a script may say of a retry. Their errors do not name the option.
var retryOptions = map[string]func(*engine.RetryError, lua.LValue) error{
	"delay": func(e *engine.RetryError, lv lua.LValue) error {
		n, ok := lv.(lua.LNumber)
		if !ok || !(n >= 0 && n <= mostRetryDelay) {
			return fmt.Errorf("is %s; it must be seconds from 0 to %d", lv, mostRetryDelay)
		}
		delay := time.Duration(float64(n) * float64(time.Second))
		e.Delay = &delay
		return nil
	},
	"max_retry_times": func(e *engine.RetryError, lv lua.LValue) (err error) {
		e.MaxTimes, err = wholeOption(lv, 0, mostRetryTimes)
		return err
	},
	"priority_adjust": func(e *engine.RetryError, lv lua.LValue) (err error) {
		e.Priority, err = wholeOption(lv, math.MinInt32, math.MaxInt32)
		return err
	},
}

func wholeOption(lv lua.LValue, least, most int) (*int, error) {
	n, ok := lv.(lua.LNumber)
	if !ok || float64(n) != math.Trunc(float64(n)) || float64(n) < float64(least) || float64(n) > float64(most) {
		return nil, fmt.Errorf("is %s; it must be a whole number from %d to %d", lv, least, most)
	}
	i := int(n)
	return &i, nil
}

func setRetryOptions(L *lua.LState, asked *engine.RetryError, t *lua.LTable) {
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		set := retryOptions[lua.LVAsString(k)]
		if set == nil {
			raiseUnknown(L, "retry has no option "+k.String(), lua.LVAsString(k), slices.Sorted(maps.Keys(retryOptions)))
		}
		if err := set(asked, value); err != nil {
			L.RaiseError("retry: %s %s", k.String(), err)
		}
	}
}
