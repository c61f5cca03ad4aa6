package luabind

import "strings"

const (
	noEnvironment = "functions have no environments of their own: getfenv and setfenv are not there"
	noDebug       = "there is no debug library"
	noWeakTables  = "gopher-lua has no weak tables and no finalizers"
)

// pucEdits are the files of the suite that are run, with what of them is not. Not run are main.lua (the program lua), files.lua (io), db.lua
// (debug), api.lua and code.lua (the testC library in a debug build of PUC Lua), checktable.lua (the same), verybig.lua (writes a program
// of 150,000 constants to a file).
var pucEdits = map[string][]pucEdit{
	"strings.lua": {
		{from: "-- assert(string.format('%q%s'", to: "assert(string.format('')"},
		{from: "-- assert(loadstring"},
		{from: "local locales", to: "print('OK')", why: "os.setlocale is not there"},
	},
	"sort.lua": {
		{from: "limit = 30000", with: "limit = 5000", why: "many more take long under the race detector, and show nothing else"},
		{from: "          -- loadstring", to: "          return x<y"},
	},
	"math.lua": {
		{from: "f = io.tmpfile", to: "do   -- testing NaN", why: "no files"},
		{from: `require "checktable"`, to: "a = nil", why: "a module of the suite that needs the testC library"},
	},
	"vararg.lua": {
		{from: "--[[", to: "local t = {1, 10}"},
	},
	"pm.lua": {
		{from: "-- assert(f(']]]"},
		{from: "-- assert(strset('[a-]')"},
		{from: "-- assert(strset('[]%%]')"},
		{from: `-- assert(string.gsub("aaa aa`, to: "print('OK')"},
	},
	"constructs.lua": {
		{from: "  assert(debug.getinfo(1", why: noDebug},
		{from: "  i = i+1", with: "  i = i+13", why: "all of the 16,384 programs take a quarter of a minute"},
		{from: "until i==c", with: "until i>=c", why: "the same"},
	},
	"closure.lua": {
		{from: "--[[", to: "-- force a GC"},
		{from: "-- force a GC", to: "assert(a[1]() == 20+A)", with: "A = 1", why: noWeakTables},
		{from: "assert(getmetatable(x).__mode", why: noWeakTables},
		{from: "--]]"},
		{from: "-- tests for global environment", to: "-- tests for multiple yield", why: noEnvironment},
		{from: "  assert(debug.getinfo(1)", to: "  coroutine.yield(3)", why: noDebug},
		{from: "-- access to locals of collected", to: "-- old bug: attempt to resume", why: noWeakTables},
		{from: "-- coroutine environments", to: "print'OK'", why: noEnvironment},
	},
	"nextvar.lua": {
		{from: "local function foo ()", to: "print'+'", why: noEnvironment},
	},
	"events.lua": {
		{from: "setfenv(1", to: "assert(getmetatable{}", why: noEnvironment},
		{from: "assert(_G == getfenv(0))", to: "--[[", why: noEnvironment},
		{from: "-- testing metatables for basic", to: "print 'OK'", why: noDebug},
	},
	"calls.lua": {
		{from: "deep(200)", why: "200 calls inside each other are the most (ARCHITECTURE, depth)"},
		{from: "assert(debug.getinfo(a).source", why: noDebug},
	},
	"locals.lua": {
		{from: "-- testing globals ;-)", to: "-- testing limits for special", why: noEnvironment},
	},
	"errors.lua": {
		{from: "  assert(string.find(doit(prog)", with: "if not doit(prog) then error(prog, 2) end", why: "gopher-lua's errors do not name the variable; ours show the line"},
		{from: "  token = string.gsub", to: "end", with: "  assert(msg)", why: "our messages name the token otherwise (load_test.go)"},
		{from: "assert(doit\";\")", to: "assert(doit\"assert(false)\")", why: "gopher-lua takes empty statements, as Lua 5.2 does"},
		{from: "assert(doit\"a=math.sin", why: "gopher-lua takes a call whose bracket is on the next line, as Lua 5.2 does"},
		{from: "checkmessage([[collectgarbage", why: "collectgarbage is not there"},
		{from: "assert(lineerror\"\\n\\n for k,v in", why: "the error of a for over several lines names its first"},
		{from: "local l = debug.getinfo", to: "-- error in error handling", why: noDebug + "; how deep calls may go is in vm_test.go"},
		{from: "-- testing syntax limits", to: "print('OK')", why: "a source may nest deeper (hostile_test.go) and a function have more upvalues; the limit of 200 locals has other words"},
	},
	"literals.lua": {
		{from: "return debug.getinfo(1).currentline", with: `return tonumber(string.match(select(2, pcall(function() error("") end)), ":(%d+):"))`, why: noDebug},
		{from: "-- testing decimal point locale", to: "print('OK')", why: "os.setlocale is not there"},
	},
	"big.lua": {
		{from: "local a, b = pcall(rep129", to: "print('+')", why: "the bound of callback_memory says it in other words (hostile_test.go)"},
		{from: `require "checktable"`, with: "local function stat() end", why: "a module of the suite that needs the testC library"},
		{from: "assert(" + strings.Repeat("x", 4) + "(10)", why: "the suite runs this file in a coroutine"},
	},
	"attrib.lua": {
		{from: "do --[", to: "print(\"testing assignments", why: "require reaches the spider's folder and luacrawl's modules only"},
		{from: "-- do", to: "print('OK')"},
	},
	"gc.lua": {
		{from: "limit = 5000", with: "limit = 500", why: "as in sort.lua"},
		{from: "  local step = 1", with: "  local step = 3", why: "as in sort.lua"},
		{from: "local bytes = gcinfo()", to: endOfFile, why: noWeakTables + ", nor gcinfo"},
	},
}
