package luabind

import (
	lua "github.com/yuin/gopher-lua"
)

// sorter sorts as PUC Lua 5.1 does, step by step, so that an order function that contradicts itself gets the same answers
// and the same error.
type sorter struct {
	L      *lua.LState
	v      *vm
	less   *lua.LFunction // nil for <
	values []lua.LValue   // from 1
	steps  int
}

// tableSort is table.sort(t[, less]). The table changes at the end, when nothing was raised.
func (v *vm) tableSort(L *lua.LState) int {
	t := L.CheckTable(1)
	s := sorter{L: L, v: v}
	if L.Get(2) != lua.LNil {
		s.less = L.CheckFunction(2)
	}
	n := length(L, t)
	v.charge(L, 16*n)
	s.values = make([]lua.LValue, n+1)
	for i := 1; i <= n; i++ {
		s.values[i] = t.RawGetInt(i)
	}
	s.sort(1, n)
	for i := 1; i <= n; i++ {
		t.RawSetInt(i, s.values[i])
	}
	return 0
}

func (s *sorter) before(a, b lua.LValue) bool {
	if s.steps++; s.steps%64 == 0 {
		s.v.interrupt.check(s.L)
	}
	if s.less == nil {
		switch x := a.(type) {
		case lua.LNumber:
			if y, ok := b.(lua.LNumber); ok {
				return x < y
			}
		case lua.LString:
			if y, ok := b.(lua.LString); ok {
				return x < y
			}
		}
		return s.L.LessThan(a, b)
	}
	L := s.L
	L.Push(s.less)
	L.Push(a)
	L.Push(b)
	L.Call(2, 1)
	result := lua.LVAsBool(L.Get(-1))
	L.Pop(1)
	return result
}

// order swaps the values at i and j, i before j, when they stand in the wrong order.
func (s *sorter) order(i, j int) bool {
	if !s.before(s.values[j], s.values[i]) {
		return false
	}
	s.swap(i, j)
	return true
}

func (s *sorter) swap(i, j int) { s.values[i], s.values[j] = s.values[j], s.values[i] }

// sort is quicksort by the median of three. It recurses into the smaller half only.
func (s *sorter) sort(low, high int) {
	for low < high {
		s.order(low, high)
		if high-low == 1 {
			return
		}
		middle := (low + high) / 2
		if !s.order(low, middle) {
			s.order(middle, high)
		}
		if high-low == 2 {
			return
		}
		pivot := s.values[middle]
		s.swap(middle, high-1)
		i := s.partition(low, high, pivot)
		s.swap(high-1, i)
		if i-low < high-i {
			s.sort(low, i-1)
			low = i + 1
		} else {
			s.sort(i+1, high)
			high = i - 1
		}
	}
}

func (s *sorter) partition(low, high int, pivot lua.LValue) int {
	i, j := low, high-1
	for {
		for i++; s.before(s.values[i], pivot); i++ {
			if i >= high {
				s.contradiction()
			}
		}
		for j--; s.before(pivot, s.values[j]); j-- {
			if j <= low {
				s.contradiction()
			}
		}
		if j < i {
			return i
		}
		s.swap(i, j)
	}
}

func (s *sorter) contradiction() { s.L.RaiseError("invalid order function for sorting") }
