package luabind

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// format is string.format as Lua 5.1 has it; beside that, %s takes any value as tostring does.
func (v *vm) format(L *lua.LState) int {
	f := textArgument(L, 1)
	var out []byte
	for arg := 2; ; {
		i := strings.IndexByte(f, '%')
		if i < 0 {
			break
		}
		out = appendText(out, f[:i])
		f = f[i+1:]
		if f != "" && f[0] == '%' {
			out, f = append(out, '%'), f[1:]
			continue
		}
		n := specification(L, f)
		if arg > L.GetTop() {
			L.ArgError(arg, "no value")
		}
		out = v.appendFormatted(L, out, f[:n], f[n], arg)
		arg++
		f = f[n+1:]
		v.bound(L, "string.format", len(out))
		v.interrupt.check(L)
	}
	v.makes(L, "string.format", len(out)+len(f))
	L.Push(newText(appendText(out, f)))
	return 1
}

// specification is how long flags, width and precision are at the start of f; a conversion follows.
func specification(L *lua.LState, f string) int {
	i := 0
	for i < len(f) && strings.IndexByte("-+ #0", f[i]) >= 0 {
		if i++; i > 5 {
			L.RaiseError("invalid format (repeated flags)")
		}
	}
	i = digits(L, f, i)
	if i < len(f) && f[i] == '.' {
		i = digits(L, f, i+1)
	}
	if i == len(f) {
		L.RaiseError("invalid option '%%' to 'format'")
	}
	return i
}

// digits passes over at most two: so no conversion makes more than 100 characters of nothing.
func digits(L *lua.LState, f string, i int) int {
	from := i
	for i < len(f) && f[i] >= '0' && f[i] <= '9' {
		if i++; i-from > 2 {
			L.RaiseError("invalid format (width or precision too long)")
		}
	}
	return i
}

func (v *vm) appendFormatted(L *lua.LState, out []byte, spec string, conversion byte, arg int) []byte {
	switch conversion {
	case 's':
		return v.appendText(L, out, spec, arg)
	case 'q':
		return appendQuoted(out, textArgument(L, arg))
	case 'c':
		return padded(out, spec, string([]byte{byte(whole(float64(numberArgument(L, arg))))}))
	case 'd', 'i':
		n := whole64(float64(numberArgument(L, arg)))
		if spec == "" {
			return fmt.Append(out, n)
		}
		return fmt.Appendf(out, "%"+integerSpec(spec)+"d", n)
	case 'u':
		return fmt.Appendf(out, "%"+integerSpec(spec)+"d", uint64(whole64(float64(numberArgument(L, arg)))))
	case 'o', 'x', 'X':
		if whole64(float64(numberArgument(L, arg))) == 0 {
			spec = strings.ReplaceAll(spec, "#", "")
		}
		return fmt.Appendf(out, "%"+integerSpec(spec)+string(conversion), uint64(whole64(float64(numberArgument(L, arg)))))
	case 'e', 'E', 'f', 'g', 'G':
		return appendFloat(out, spec, conversion, float64(numberArgument(L, arg)))
	}
	L.RaiseError("invalid option '%%%c' to 'format'", conversion)
	return out
}

// integerSpec drops the flag 0 where a precision says how many digits there are, as C does.
func integerSpec(spec string) string {
	if flags := strings.TrimLeft(spec, "-+ #0"); strings.Contains(flags, ".") {
		return strings.ReplaceAll(spec[:len(spec)-len(flags)], "0", "") + flags
	}
	return spec
}

func whole64(f float64) int64 {
	if math.IsNaN(f) || f >= 1<<63 || f < -1<<63 {
		return math.MinInt64
	}
	return int64(f)
}

// appendFloat follows C, whose %g has six digits when it is not told, and which writes inf and nan in small letters.
func appendFloat(out []byte, spec string, conversion byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		text := string(appendNumber(nil, f))
		if conversion < 'a' {
			text = strings.ToUpper(text)
		}
		return padded(out, strings.ReplaceAll(spec, "0", ""), text)
	}
	if !strings.Contains(spec, ".") {
		spec += ".6"
	}
	return fmt.Appendf(out, "%"+spec+string(conversion), f)
}

func (v *vm) appendText(L *lua.LState, out []byte, spec string, arg int) []byte {
	s := v.tostringValue(L, L.Get(arg))
	if spec == "" {
		return appendText(out, s)
	}
	width, precision, limited := strings.Cut(spec, ".")
	if limited {
		n := 0
		for _, c := range []byte(precision) {
			n = n*10 + int(c-'0')
		}
		s = s[:min(n, len(s))]
	}
	return padded(out, width, s)
}

// padded appends s at the width of a specification, counted in bytes.
func padded(out []byte, spec, s string) []byte {
	flags := strings.TrimLeft(spec, "-+ #0")
	width := 0
	for _, c := range []byte(flags) {
		if c < '0' || c > '9' {
			break
		}
		width = width*10 + int(c-'0')
	}
	fill := max(0, width-len(s))
	if strings.Contains(spec[:len(spec)-len(flags)], "-") {
		return append(appendText(out, s), strings.Repeat(" ", fill)...)
	}
	return appendText(append(out, strings.Repeat(" ", fill)...), s)
}

// appendQuoted writes a string as Lua's parser reads it back.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for _, c := range []byte(s) {
		switch c {
		case '"', '\\', '\n':
			out = append(out, '\\', c)
		case '\r':
			out = append(out, '\\', 'r')
		case 0:
			out = append(out, `\000`...)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
