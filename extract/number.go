package extract

import "strings"

// number reads a number and writes its digits as they stand. What Python allows beyond JSON is respelled
// where a JSON number stands for the same value; anything else (0x10, 1j, 007, inf) is refused.
func (r *reader) number() bool {
	start, from := r.pos, len(r.out)
	respelled := false
	switch r.peek() {
	case '-':
		r.out = append(r.out, '-')
		r.pos++
	case '+':
		respelled = true
		r.pos++
	}
	digits := len(r.out)
	whole := r.digits()
	if r.peek() == '.' {
		respelled = r.fraction(whole) || respelled
	}
	if len(r.out) == digits || r.out[len(r.out)-1] == '.' || whole > 1 && r.out[digits] == '0' {
		return r.badNumber(start)
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		if !r.exponent() {
			return r.badNumber(start)
		}
	}
	if c := r.peek(); isNameByte(c) || c == '.' {
		return r.badNumber(start)
	}
	if r.pos >= r.stop() && r.depth > 0 {
		return r.ends(start) // its last digits may be missing
	}
	if respelled || r.pos-start != len(r.out)-from {
		r.repaired(PythonNumber, start)
	}
	return true
}

func (r *reader) badNumber(start int) bool {
	if r.pos >= r.stop() {
		return r.ends(start)
	}
	return r.fail(RuleSyntax, start)
}

// fraction reads the point and what follows, with a zero for the side that Python lets one leave out. It
// reports whether it put one there; a point alone stays without.
func (r *reader) fraction(whole int) (respelled bool) {
	r.pos++
	if whole == 0 && !isDigit(r.peek()) {
		r.out = append(r.out, '.')
		return false
	}
	if whole == 0 {
		r.out = append(r.out, '0')
	}
	r.out = append(r.out, '.')
	if r.digits() == 0 {
		r.out = append(r.out, '0')
		return true
	}
	return whole == 0
}

// digits reads decimal digits, with single underscores between them left out, and returns how many there
// were.
func (r *reader) digits() int {
	n := 0
	for {
		c := r.peek()
		switch {
		case isDigit(c):
			r.out = append(r.out, c)
			n++
		case c == '_' && n > 0 && r.pos+1 < r.stop() && isDigit(r.src[r.pos+1]):
		default:
			return n
		}
		r.pos++
	}
}

func (r *reader) exponent() bool {
	r.out = append(r.out, r.src[r.pos])
	r.pos++
	if c := r.peek(); c != 0 && strings.IndexByte("+-", c) >= 0 {
		r.out = append(r.out, c)
		r.pos++
	}
	return r.digits() > 0
}
