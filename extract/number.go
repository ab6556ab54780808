package extract

import "strings"

// number reads a number and keeps its digits. Any that JSON does not have (.5, 1_000, 0x10, inf) is refused.
func (r *reader) number() bool {
	start := r.pos
	r.skip("-")
	whole := r.digits()
	good := whole == "0" || whole != "" && whole[0] != '0'
	if r.skip(".") {
		good = r.digits() != "" && good
	}
	if r.skip("eE") {
		r.skip("+-")
		good = r.digits() != "" && good
	}
	switch next := r.peek(); {
	case !good, isNameByte(next), next == '.':
		return r.unfit(start)
	case r.pos >= r.stop() && r.depth > 0:
		return r.ends(start) // its last digits may be missing
	}
	r.out = append(r.out, r.src[start:r.pos]...)
	return true
}

// skip goes past the next byte if it is one of some.
func (r *reader) skip(some string) bool {
	if r.pos >= r.stop() || strings.IndexByte(some, r.src[r.pos]) < 0 {
		return false
	}
	r.pos++
	return true
}

// digits reads digits.
func (r *reader) digits() string {
	start := r.pos
	for stop := r.stop(); r.pos < stop && isDigit(r.src[r.pos]); {
		r.pos++
	}
	return r.src[start:r.pos]
}
