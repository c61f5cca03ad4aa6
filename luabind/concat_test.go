package luabind

import (
	"fmt"
	"testing"
)

// TestTextsThatGrow: a string that goes on in the buffer of another changes none that was made before.
func TestTextsThatGrow(t *testing.T) {
	t.Parallel()
	if err := parseOnce(t, `
local part = ("x"):rep(70000)
local a = part .. "a"
local b, c = a .. "b", a .. "c"
local d, e = b .. "d", b .. "e"
assert(a == part .. "a" and b == part .. "ab" and c == part .. "ac" and d == part .. "abd" and e == part .. "abe")
local twice = e .. e
assert(twice == part .. "abe" .. part .. "abe" and twice .. 1 == twice .. "1" and 1 .. twice == "1" .. twice)
local s, list, kept = "", {}, {}
for i = 1, 3000 do
  local word = "row " .. i .. (","):rep(i % 100)
  s, list[i] = s .. word, word
  if i % 500 == 0 then kept[#kept + 1] = { s, #list } end
end
assert(s == table.concat(list))
for _, k in ipairs(kept) do assert(k[1] == table.concat(list, "", 1, k[2])) end`); err != nil {
		t.Error(err)
	}
}

// TestTextsGrowByTheirLength: 10 MB in 1,000,000 pieces would be 5 TB of copies if each copied what is there. The race detector makes each
// piece cost 60 µs: it sees a fifth of them.
func TestTextsGrowByTheirLength(t *testing.T) {
	t.Parallel()
	pieces := max(200_000, 1_000_000/slowdown)
	if err := parseOnce(t, fmt.Sprintf(`local s = "" for i = 1, %d do s = s .. "row,of,csv" end assert(#s == %d)`, pieces, 10*pieces)); err != nil {
		t.Error(err)
	}
}
