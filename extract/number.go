package extract

import (
	"cmp"
	"regexp"
	"strings"
)

// numberForm is a number in Python. Its groups are the digits before and after the point, the exponent, and
// the digits of the exponent. Each may be missing.
var numberForm = regexp.MustCompile(`^[-+]?(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?([eE][-+]?(\d+(?:_\d+)*)?)?`)

// number reads a number and keeps its digits. A number in Python's syntax is respelled if JSON can write the
// same value. Any other (0x10, 1j, 007, inf) is refused.
func (r *reader) number() bool {
	start := r.pos
	m := numberForm.FindStringSubmatch(r.src[start:r.stop()])
	written, whole, fraction, exponent := m[0], m[1], m[2], m[3]
	r.pos += len(written)
	next := r.peek()
	switch {
	case whole+fraction == "", len(whole) > 1 && whole[0] == '0', exponent != "" && m[4] == "",
		isNameByte(next), next == '.':
		if r.pos >= r.stop() {
			return r.ends(start)
		}
		return r.fail(RuleSyntax, start)
	case r.pos >= r.stop() && r.depth > 0:
		return r.ends(start) // its last digits may be missing
	}
	text := cmp.Or(whole, "0")
	if strings.Contains(written, ".") {
		text += "." + cmp.Or(fraction, "0")
	}
	if written[0] == '-' {
		text = "-" + text
	}
	text = strings.ReplaceAll(text+exponent, "_", "")
	if text != written {
		r.repaired(PythonNumber, start)
	}
	r.out = append(r.out, text...)
	return true
}
