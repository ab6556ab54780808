package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// scalar is a string, number, boolean or null of a document.
type scalar struct {
	kind   kinds
	text   string // what a string says, or a number as written
	shared bool   // text is part of the document's own
	truth  bool
	whole  bool // a number without fraction and exponent, of so few digits that int is its value
	int    int64
	float  float64
	parsed bool // float is there
}

// maxExact is the length of a number's text up to which two different decimals are two different floats.
const maxExact = 15

func (v *scalar) asFloat() float64 {
	if !v.parsed {
		v.float, _ = strconv.ParseFloat(v.text, 64)
		v.parsed = true
	}
	return v.float
}

// value is the scalar as the library takes it.
func (v *scalar) value() any {
	switch v.kind {
	case kindNull:
		return nil
	case kindBool:
		return v.truth
	case kindString:
		return v.text
	}
	return json.Number(v.text)
}

// judge holds a scalar to a node.
func (n *node) judge(v *scalar) verdict {
	switch {
	case n.orNull && v.kind == kindNull:
		return good
	case n.never:
		return bad
	case !n.allows(v.kind):
		return bad
	}
	told := good
	if n.values != nil {
		told = n.values.judge(v)
	}
	if n.text != nil && told == good && v.kind == kindString {
		told = n.text.judge(v.text)
	}
	if n.number != nil && told == good && v.kind&kindNumber != 0 {
		told = n.number.judge(v)
	}
	if n.format != nil && told == good {
		told = n.format.judge(v)
	}
	if n.more != nil && told == good {
		told = n.more.judge(func(b *node) verdict { return b.judge(v) })
	}
	return told
}

// judge asks each branch about the same value.
func (b *branches) judge(ask func(*node) verdict) verdict {
	told := good
	for _, n := range b.all {
		told = max(told, ask(n))
	}
	if len(b.any) > 0 {
		told = max(told, anyOf(b.any, ask))
	}
	if len(b.one) > 0 {
		told = max(told, exactlyOne(b.one, ask))
	}
	if b.not != nil {
		told = max(told, [...]verdict{good: bad, bad: good, unsure: unsure}[ask(b.not)])
	}
	if b.cond == nil {
		return told
	}
	chosen := [...]*node{good: b.onTrue, bad: b.onElse, unsure: nil}
	v := ask(b.cond)
	switch {
	case v == unsure:
		return unsure
	case chosen[v] != nil:
		told = max(told, ask(chosen[v]))
	}
	return told
}

func anyOf(list []*node, ask func(*node) verdict) verdict {
	told := bad
	for _, n := range list {
		switch ask(n) {
		case good:
			return good
		case unsure:
			told = unsure
		}
	}
	return told
}

func exactlyOne(list []*node, ask func(*node) verdict) verdict {
	fits := 0
	for _, n := range list {
		switch ask(n) {
		case unsure:
			return unsure
		case good:
			fits++
		}
	}
	if fits == 1 {
		return good
	}
	return bad
}

// textTests are the keywords of strings. Lengths count characters.
type textTests struct {
	min, max int // max < 0: no bound
	charset  *charset
	pattern  jsonschema.Regexp
}

func (t *textTests) judge(s string) verdict {
	if t.min > 0 || t.max >= 0 {
		// A character is one to four bytes: most strings need not be counted.
		if len(s) < t.min || t.max >= 0 && len(s) > t.max || len(s) < 4*t.min {
			if n := utf8.RuneCountInString(s); n < t.min || t.max >= 0 && n > t.max {
				return bad
			}
		}
	}
	if t.charset != nil && !t.charset.fits(s) || t.pattern != nil && !t.pattern.MatchString(s) {
		return bad
	}
	return good
}

// numberTests are the bounds of numbers, and what they are to be multiples of.
type numberTests struct {
	min, max, above, below *bound
	of                     *multiple
}

func (t *numberTests) judge(v *scalar) verdict {
	return max(
		t.of.holds(v),
		t.min.holds(v, [3]bool{false, true, true}), t.max.holds(v, [3]bool{true, true, false}),
		t.above.holds(v, [3]bool{false, false, true}), t.below.holds(v, [3]bool{true, false, false}),
	)
}

// multiple is a number that others are to be multiples of.
type multiple struct {
	int   int64 // 0 where it is not whole, or too large
	exact *big.Rat
}

func newMultiple(r *big.Rat) *multiple {
	if r == nil {
		return nil
	}
	m := &multiple{exact: r}
	if r.IsInt() && r.Num().IsInt64() {
		m.int = r.Num().Int64()
	}
	return m
}

func (m *multiple) holds(v *scalar) verdict {
	switch {
	case m == nil:
		return good
	case v.whole && m.int != 0:
		return when(v.int%m.int == 0)
	}
	r, ok := new(big.Rat).SetString(v.text)
	return when(ok && r.Quo(r, m.exact).IsInt())
}

// bound is a number others are compared with, exactly.
type bound struct {
	isInt bool
	int   int64
	float float64 // the nearest
	exact bool    // written with so few digits that no other such number has the same float
}

func newBound(r *big.Rat) *bound {
	if r == nil {
		return nil
	}
	b := &bound{}
	if b.isInt = r.IsInt() && r.Num().IsInt64(); b.isInt {
		b.int = r.Num().Int64()
	}
	b.float, _ = r.Float64()
	text := strconv.FormatFloat(b.float, 'f', -1, 64)
	again, ok := new(big.Rat).SetString(text)
	b.exact = ok && len(text) <= maxExact && again.Cmp(r) == 0
	return b
}

// holds reports whether a number stands to the bound as allowed: below it, equal, above.
func (b *bound) holds(v *scalar, allowed [3]bool) verdict {
	if b == nil {
		return good
	}
	order, sure := b.compare(v)
	switch {
	case !sure:
		return unsure
	case allowed[order+1]:
		return good
	}
	return bad
}

// compare says how a number stands to the bound. Rounding keeps order, so different floats tell; equal ones do only of numbers
// of few digits.
func (b *bound) compare(v *scalar) (order int, sure bool) {
	if v.whole && b.isInt {
		switch {
		case v.int < b.int:
			return -1, true
		case v.int > b.int:
			return 1, true
		}
		return 0, true
	}
	f := v.asFloat()
	switch {
	case f < b.float:
		return -1, true
	case f > b.float:
		return 1, true
	}
	return 0, b.exact && len(v.text) <= maxExact && !strings.ContainsAny(v.text, "eE")
}

// charset is a pattern of the form ^[a-z]+$ over ASCII.
type charset [128]bool

func (c *charset) fits(s string) bool {
	for i := range len(s) {
		if s[i] >= 128 || !c[s[i]] {
			return false
		}
	}
	return s != ""
}
