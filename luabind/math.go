package luabind

import (
	"math"
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"
)

// openMath gives the math library a generator of random numbers of the VM's own: one that a script seeds must not be shared.
func (v *vm) openMath() {
	lib := v.library(lua.OpenMath, lua.MathLibName)
	lib.RawSetString("huge", lua.LNumber(math.Inf(1)))
	v.L.SetFuncs(lib, map[string]lua.LGFunction{"random": v.mathRandom, "randomseed": v.mathRandomSeed})
}

func (v *vm) mathRandomSeed(L *lua.LState) int {
	v.random = rand.New(rand.NewPCG(math.Float64bits(float64(numberArgument(L, 1))), 0))
	return 0
}

// mathRandom is math.random([m[, n]]): from 0 up to 1, from 1 to m, or from m to n.
func (v *vm) mathRandom(L *lua.LState) int {
	if v.random == nil {
		v.random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	low, high := 1.0, 1.0
	switch L.GetTop() {
	case 0:
		L.Push(lua.LNumber(v.random.Float64()))
		return 1
	case 1:
		high = math.Floor(float64(numberArgument(L, 1)))
	default:
		low, high = math.Floor(float64(numberArgument(L, 1))), math.Floor(float64(numberArgument(L, 2)))
	}
	if !(low <= high) {
		L.ArgError(L.GetTop(), "interval is empty")
	}
	L.Push(lua.LNumber(low + math.Floor(v.random.Float64()*(high-low+1))))
	return 1
}
