package luabind

// What of a pattern matches one character: itself, a dot, a class such as %a, a set such as [%w_-].

// classes has a bit for each letter that names a class, by character.
var classes = func() (t [256]uint16) {
	for c := range 256 {
		b := byte(c)
		lower, upper, digit := b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9'
		letter := lower || upper
		for i, in := range []bool{letter, b < ' ' || b == 127, digit, lower, b > ' ' && b < 127 && !letter && !digit,
			b == ' ' || b >= '\t' && b <= '\r', upper, letter || digit, digit || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F', b == 0} {
			if in {
				t[c] |= 1 << i
			}
		}
	}
	return t
}()

// classBit is the bit of a class in classes by its letter, 0 for what is no class.
var classBit = func() (t [256]uint16) {
	for i, letter := range []byte("acdlpsuwxz") {
		t[letter] = 1 << i
	}
	return t
}()

// classEnd is where the item for one character that begins at p ends.
func (m *matcher) classEnd(p int) int {
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pattern) {
			m.fail("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		if p < len(m.pattern) && m.pattern[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pattern) || m.pattern[p] != ']'; first = false {
			if p >= len(m.pattern) {
				m.fail("malformed pattern (missing ']')")
			}
			p++
			if m.pattern[p-1] == '%' {
				p++
			}
		}
		return p + 1
	}
	return p
}

// single reports whether the item from p to ep matches the character at s.
func (m *matcher) single(s, p, ep int) bool {
	if s >= len(m.text) {
		return false
	}
	c := m.text[s]
	switch m.pattern[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pattern[p+1])
	case '[':
		return m.set(c, p, ep-1)
	}
	return m.pattern[p] == c
}

func inClass(c, class byte) bool {
	bit := classBit[class|0x20]
	if bit == 0 {
		return class == c
	}
	if class >= 'A' && class <= 'Z' {
		return classes[c]&bit == 0
	}
	return classes[c]&bit != 0
}

// set reports whether the set from the bracket at p to that at end has the character.
func (m *matcher) set(c byte, p, end int) bool {
	has := true
	if m.pattern[p+1] == '^' {
		has = false
		p++
	}
	for p++; p < end; p++ {
		switch at := m.pattern[p]; {
		case at == '%':
			if p++; inClass(c, m.pattern[p]) {
				return has
			}
		case p+2 < end && m.pattern[p+1] == '-':
			if at <= c && c <= m.pattern[p+2] {
				return has
			}
			p += 2
		case at == c:
			return has
		}
	}
	return !has
}
