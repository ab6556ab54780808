package extract

import (
	"cmp"
	"strings"
)

// number reads a number and keeps its digits. A number in Python's syntax is respelled if JSON can write the
// same value. Any other (0x10, 1j, 007, inf) is refused.
func (r *reader) number() bool {
	start := r.pos
	r.skip("+-")
	whole, fraction, exponent, power := r.digits(), "", "", ""
	if r.skip(".") {
		fraction = r.digits()
	}
	if at := r.pos; r.skip("eE") {
		r.skip("+-")
		power = r.digits()
		exponent = r.src[at:r.pos]
	}
	written, next := r.src[start:r.pos], r.peek()
	switch {
	case whole == "" && fraction == "", len(whole) > 1 && whole[0] == '0', exponent != "" && power == "",
		isNameByte(next), next == '.':
		return r.unfit(start)
	case r.pos >= r.stop() && r.depth > 0:
		return r.ends(start) // its last digits may be missing
	}
	from := len(r.out)
	if written[0] == '-' {
		r.out = append(r.out, '-')
	}
	digits := func(digits string) { r.out = append(r.out, strings.ReplaceAll(digits, "_", "")...) }
	digits(cmp.Or(whole, "0"))
	if strings.Contains(written, ".") {
		r.out = append(r.out, '.')
		digits(cmp.Or(fraction, "0"))
	}
	digits(exponent)
	if string(r.out[from:]) != written {
		r.repaired(formPythonNumber, start)
	}
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

// digits reads digits, which in Python may have a "_" between two of them.
func (r *reader) digits() string {
	start := r.pos
	for stop := r.stop(); r.pos < stop; r.pos++ {
		between := r.src[r.pos] == '_' && r.pos > start && r.src[r.pos-1] != '_' &&
			r.pos+1 < stop && isDigit(r.src[r.pos+1])
		if !isDigit(r.src[r.pos]) && !between {
			break
		}
	}
	return r.src[start:r.pos]
}
