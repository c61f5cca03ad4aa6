package main

// written are programs for what gopher-lua 1.1.2 is known to get wrong, one fault each. Every one of them answers
// differently when it is compiled without the repair.
var written = []string{
	`local x, t = 1, {} x = t.y and 2 note(x)`,
	`local function g(x) x = n and x.y return x end note(g({ y = 3 }))`,
	`local x = 5 x = id(false) and 2 note(x)`,
	`local x = 1 x = (G and 2) note(x)`,
	`local s = "a" local function g(s) local k = "k" s = (s:gsub("a", "b")) return s, k end note(g("aa"))`,
	`local function g(x) local y = 5 x = (id(x)) return x, y end note(g(1))`,
	`local a, b = 1, 2 a, b = b, a note(a, b)`,
	`local y, t = 7, {} G, t.x = 1, y note(G, t)`,
	`local list = { v = 1, next = { v = 2, next = { v = 3 } } } local prev, node = nil, list
   while node do node.next, prev, node = prev, node, node.next end note(prev)`,
	`local t, u = { n = 1 }, nil t, t.n = u, 5 note(t)`,
	`local a, b, c = 1, 2, 3 a, b, c = c, a note(a, b, c)`,
	`local note0 = note local note = function(...) burn() return note(...) end note("outer")`,
	`local n = 0 while (nil and n) or n < 3 do n = n + 1 end note(n)`,
	`local n = 0 repeat if false then n = 7 n = 7 end n = n + 1 until n >= 3 note(n)`,
	`local n = 0 while true do if nil then n = 7 n = 7 end n = n + 1 if n > 3 then break end end note(n)`,
	`local n = 0 for _, v in ipairs({ 1, 2 }) do if false then note(v) else n = n + v end end note(n)`,
	`local n = 0 if G then n = 1 elseif H then n = 2 end while true do while true do break end n = n + 1 if n > 2 then break end end note(n)`,
	`local f while true do do local y = 1 f = function() return y end break end end local z = 5 note(f())`,
	`local f for i = 1, 2 do do local y = i f = function() y = y + 1 return y end if y then break end end end
   local z, w = 8, 9 note(f(), f(), z, w)`,
	`local n = 0 local function inc() n = n + 1 end pcall(error, "x") inc() inc() note(n)`,
	`local n = 0 local inc = function() n = n + 1 end pcall(function() inc() error("x", 0) end) inc() note(n)`,
	`local g xpcall(function() local y = 1 g = function() return y end error("x", 0) end, none) local a, b, c, d, e, f = 5, 6, 7, 8, 9, 10 note(g(), a, b, c, d, e, f)`,
	`local w = coroutine.wrap(function() local n = 0 local get = function() return n end pcall(error) n = 2 coroutine.yield(get()) end) note(w())`,
}
