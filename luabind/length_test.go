package luabind

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestListsThatAreFull: a list whose array part is full never loses a value in silence. What cannot count the values
// behind it says so, with the line.
func TestListsThatAreFull(t *testing.T) {
	t.Parallel()
	const full = "local t = {} for i = 1, 1048575 do t[i] = i end\n"
	for name, test := range map[string]struct{ script, want string }{
		"the last value fits":  {full + "t[#t] = 'last' assert(#t == 1048575 and t[1048575] == 'last')", ""},
		"append":               {full + "for i = 1, 10 do\n t[#t + 1] = i\nend", "a.lua:4: a list has at most 1048575 values"},
		"append by a variable": {full + "for i = 1, 10 do\n local n = #t\n t[n + 1] = i\nend", "a.lua:4: a list has at most 1048575 values"},
		"append by the next":   {full + "for i = 1, 10 do\n local n = #t + 1\n t[n] = i\nend", "a.lua:4: a list has at most 1048575 values"},
		"append to a field":    {full + "local a = { b = t }\nfor i = 1, 10 do a.b[1 + #a.b] = i end", "a.lua:4: a list has at most 1048575 values"},
		"key before value":     {"local t = {} t[#t + 1] = (function() t[1] = 'first' return 'second' end)() assert(t[1] == 'second' and #t == 1)", ""},
		"counted by oneself":   {full + "for i = 1048576, 1048586 do t[i] = i end assert(t[1048576] == 1048576 and t[1048586] == 1048586)", ""},
		"ipairs":               {full + "t[1048576] = 1048576 local n = 0 for i, v in ipairs(t) do assert(i == v) n = i end assert(n == 1048576)", ""},
		"table.insert":         {full + "table.insert(t, 1)", "a.lua:3: table.insert: a list has at most 1048575 values"},
		"table.remove":         {full + "t[1048576] = 1\ntable.remove(t)", "a.lua:4: a list has at most"},
		"table.concat":         {full + "t[1048576] = 1\ntable.concat(t)", "a.lua:4: a list has at most"},
		"table.sort":           {full + "t[1048576] = 1\ntable.sort(t)", "a.lua:4: a list has at most"},
		"length by metatable":  {"assert(#setmetatable({}, { __len = function() return 7 end }) == 7 and #'abc' == 3 and #setmetatable({ 1 }, {}) == 1)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := parseOnce(t, test.script)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// parseOnce is the error of a callback with that body, from the second line on.
func parseOnce(t *testing.T, body string) error {
	t.Helper()
	source := "local spider = { name = 'a' } function spider.parse(response)\n" + body + "\nend return spider"
	s, err := Load(filesystem(map[string]string{"a.lua": source}), "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = s.Parse(ctx, pageOf(""))
	return err
}
