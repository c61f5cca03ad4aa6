package luabind

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
	"golang.org/x/net/http/httpguts"

	"luacrawl/engine"
	"luacrawl/engine/fetch"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// requestOptions set the fields of a request from what a script gives. Their errors do not name the option.
var requestOptions = map[string]func(v *vm, L *lua.LState, r *luaRequest, value lua.LValue) error{
	"url":         setURL,
	"method":      setMethod,
	"body":        setBody,
	"headers":     setHeaders,
	"cookies":     setCookies,
	"callback":    func(v *vm, L *lua.LState, r *luaRequest, lv lua.LValue) error { return v.setCallback(lv, &r.Callback) },
	"errback":     func(v *vm, L *lua.LState, r *luaRequest, lv lua.LValue) error { return v.setCallback(lv, &r.Errback) },
	"meta":        func(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error { return setTable(lv, &r.meta) },
	"cb_kwargs":   func(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error { return setTable(lv, &r.cbKwargs) },
	"priority":    setPriority,
	"not_before":  setNotBefore,
	"dont_filter": setDontFilter,
	"proxy":       setProxy,
	"slot":        setSlot,
}

// setOptions sets all fields that a table has, or raises.
func (v *vm) setOptions(L *lua.LState, r *luaRequest, t *lua.LTable) {
	for k, value := t.Next(lua.LNil); k != lua.LNil; k, value = t.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			L.RaiseError("request takes named fields only, got the key %s", k.String())
		}
		set := requestOptions[string(name)]
		if set == nil {
			L.RaiseError("request: %s", unknownOption(string(name)))
		}
		if err := set(v, L, r, value); err != nil {
			L.RaiseError("request: %s %s", string(name), err)
		}
	}
	if r.proxy != nil {
		v.takeProxy(L, r)
	}
}

func unknownOption(name string) string {
	known := slices.Sorted(maps.Keys(requestOptions))
	if s := engine.Nearest(name, known); s != "" {
		return fmt.Sprintf("unknown field %q; did you mean %q?", name, s)
	}
	return fmt.Sprintf("unknown field %q; known are %s; data of your own belongs in meta", name, strings.Join(known, ", "))
}

func typeError(lv lua.LValue, want string) error {
	return fmt.Errorf("is a %s; it must be %s", lv.Type(), want)
}

func setURL(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	s, ok := lv.(lua.LString)
	if !ok {
		return typeError(lv, "a string")
	}
	u, err := absoluteURL(string(s))
	r.URL = u
	return err
}

// absoluteURL is the normalised form of an absolute http or https URL.
func absoluteURL(s string) (string, error) {
	u, err := weburl.Parse(s)
	switch {
	case len(s) > weburl.MaxLength:
		return "", fmt.Errorf("has %d bytes; a URL may have %d", len(s), weburl.MaxLength)
	case err != nil || !weburl.IsHTTP(u):
		return "", fmt.Errorf("%.200q is not an absolute http or https URL (response:urljoin makes one of a link)", s)
	}
	return u, nil
}

func setMethod(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	s, ok := lv.(lua.LString)
	if !ok {
		return typeError(lv, "a string")
	}
	method := strings.ToUpper(string(s))
	if !httpguts.ValidHeaderFieldName(method) {
		return fmt.Errorf("%q is not an HTTP method", string(s))
	}
	if r.Method = method; method == http.MethodGet {
		r.Method = ""
	}
	return nil
}

func setBody(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	s, ok := lv.(lua.LString)
	if !ok {
		return typeError(lv, "a string (json.encode makes one of a table)")
	}
	r.Body = []byte(s)
	return nil
}

func setHeaders(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	h := http.Header{}
	err := eachString(lv, func(name, value string) error {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("has %q: %q, which cannot be sent as a header", name, value)
		}
		h.Add(name, value)
		return nil
	})
	if r.Headers = h; len(h) == 0 {
		r.Headers = nil
	}
	return err
}

func setCookies(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	r.Cookies = map[string]string{}
	return eachString(lv, func(name, value string) error {
		if !httpguts.ValidHeaderFieldName(name) || strings.ContainsAny(value, ";\r\n\x00") {
			return fmt.Errorf("has %q: %q, which cannot be sent as a cookie", name, value)
		}
		r.Cookies[name] = value
		return nil
	})
}

// eachString walks a table of names and strings, numbers, or lists of them.
func eachString(lv lua.LValue, take func(name, value string) error) error {
	t, ok := lv.(*lua.LTable)
	if !ok {
		return typeError(lv, "a table of names and strings")
	}
	var err error
	t.ForEach(func(k, value lua.LValue) {
		name, isName := k.(lua.LString)
		list, isList := value.(*lua.LTable)
		switch {
		case err != nil:
		case !isName:
			err = fmt.Errorf("has the key %s; its keys are names", k)
		case isList:
			for i := 1; i <= list.Len() && err == nil; i++ {
				err = takeString(string(name), list.RawGetInt(i), take)
			}
		default:
			err = takeString(string(name), value, take)
		}
	})
	return err
}

func takeString(name string, lv lua.LValue, take func(name, value string) error) error {
	switch lv.(type) {
	case lua.LString, lua.LNumber:
		return take(name, lv.String())
	}
	return fmt.Errorf("has a %s for %q; it must be a string", lv.Type(), name)
}

func (v *vm) setCallback(lv lua.LValue, name *string) error {
	switch lv := lv.(type) {
	case lua.LString:
		*name = string(lv)
		return nil
	case *lua.LFunction:
		if *name = v.names[lv]; *name != "" {
			return nil
		}
		return fmt.Errorf("is a function that is no field of the spider; it must have a name there, since requests outlive the process: function spider.parse_item(response)")
	}
	return typeError(lv, "the name of a function of the spider")
}

func setTable(lv lua.LValue, table **lua.LTable) error {
	t, ok := lv.(*lua.LTable)
	if !ok {
		return typeError(lv, "a table")
	}
	*table = t
	return nil
}

func setPriority(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	n, ok := lv.(lua.LNumber)
	if !ok || float64(n) != math.Trunc(float64(n)) || math.Abs(float64(n)) > math.MaxInt32 {
		return fmt.Errorf("is %s; it must be a whole number", lv)
	}
	r.Priority = int(n)
	return nil
}

// maxUnix is the year 9999: what JSON can say of a time.
const maxUnix = 253402300799

func setNotBefore(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	n, ok := lv.(lua.LNumber)
	if !ok || !(n >= 0 && n <= maxUnix) {
		return fmt.Errorf("is %s; it must be a time in Unix seconds, as os.time() gives", lv)
	}
	r.NotBefore = time.UnixMilli(int64(math.Ceil(float64(n) * 1000)))
	return nil
}

func setDontFilter(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	b, ok := lv.(lua.LBool)
	if !ok {
		return typeError(lv, "true or false")
	}
	r.DontFilter = bool(b)
	return nil
}

// setSlot takes the unit of politeness that is to hold the request, in place of the one of its URL.
func setSlot(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	if lv == lua.LFalse {
		r.Slot = ""
		return nil
	}
	s, ok := lv.(lua.LString)
	if !ok {
		return typeError(lv, "a string, or false for the site's own")
	}
	slot, err := scheduler.SlotName(string(s))
	if err != nil {
		return fmt.Errorf("is none: %w", err)
	}
	r.Slot = slot
	return nil
}

func setProxy(_ *vm, _ *lua.LState, r *luaRequest, lv lua.LValue) error {
	switch lv := lv.(type) {
	case lua.LString:
		if _, err := fetch.ParseProxy(string(lv)); err != nil {
			return fmt.Errorf("is none: %w; false is for no proxy", err)
		}
	case lua.LBool:
		if lv {
			return typeError(lv, "a proxy's URL, or false for no proxy")
		}
	default:
		return typeError(lv, "a proxy's URL, or false for no proxy")
	}
	r.proxy = lv
	return nil
}

// takeProxy puts the proxy where the engine looks for it, meta.proxy. The table that the script gave as meta may be other requests' too
// and stays as it is.
func (v *vm) takeProxy(L *lua.LState, r *luaRequest) {
	old := v.object(L, &r.meta, r.Meta)
	meta := L.CreateTable(0, 4)
	old.ForEach(meta.RawSet)
	meta.RawSetString("proxy", r.proxy)
	r.meta, r.proxy = meta, nil
}
