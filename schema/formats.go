package schema

import (
	"strconv"
	"strings"
)

// teller says whether a number or a string keeps to a rule with a parameter.
type teller func(param, number float64, text string) verdict

// formatTest is a judge's rule in a program. What it cannot tell by itself it asks the judge.
type formatTest struct {
	judged judge
	tell   teller // nil: the judge always tells
	param  float64
	kind   kinds // the values the rule is about; of others the judge says nothing
}

func (t *formatTest) judge(v *scalar) verdict {
	told := unsure
	if t.tell != nil {
		if v.kind&t.kind == 0 {
			return good
		}
		number := 0.0
		if t.kind&kindNumber != 0 {
			number = v.asFloat()
		}
		told = t.tell(t.param, number, v.text)
	}
	if told != unsure {
		return told
	}
	if t.judged.validate(v.value()) != nil {
		return bad
	}
	return good
}

// tellers are the rules that programs know, by the class of the value. They say what the validator says, or are unsure.
var tellers = [...]struct {
	class class
	tag   string
	tell  teller
}{
	{classFloat, "min", atLeast}, {classFloat, "gte", atLeast}, {classFloat, "max", atMost}, {classFloat, "lte", atMost},
	{classFloat, "gt", func(p, n float64, _ string) verdict { return when(n > p) }},
	{classFloat, "lt", func(p, n float64, _ string) verdict { return when(n < p) }},
	{classString, "email", plainEmail},
}

// tellerOf is nil where no program knows the rule.
func tellerOf(c class, tag string) teller {
	for _, row := range tellers {
		if row.class == c && row.tag == tag {
			return row.tell
		}
	}
	return nil
}

func atLeast(p, n float64, _ string) verdict { return when(n >= p) }
func atMost(p, n float64, _ string) verdict  { return when(n <= p) }

func when(ok bool) verdict {
	if ok {
		return good
	}
	return bad
}

func newFormatTest(j judge) *formatTest {
	t := &formatTest{judged: j}
	c := classOf(j.typ)
	tell := tellerOf(c, j.rule.tag)
	if tell == nil || len(j.rule.alts) > 0 || c == classFloat && j.typ.Bits() != 64 {
		return t
	}
	t.kind = kindString
	if c == classFloat {
		var err error
		t.kind = kindNumber | kindInteger
		if t.param, err = strconv.ParseFloat(j.rule.param, 64); err != nil {
			return t
		}
	}
	t.tell = tell
	return t
}

// plainEmail knows the addresses that every reading of the standards accepts, and is unsure of all others.
func plainEmail(_, _ float64, text string) verdict {
	local, domain, ok := strings.Cut(text, "@")
	if !ok || !dotted(local, localByte) || !dotted(domain, domainByte) {
		return unsure
	}
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	hyphenEnds := domain[0] == '-' || strings.Contains(domain, "-.") || strings.Contains(domain, ".-")
	if len(top) == len(domain) || hyphenEnds || strings.ContainsFunc(top, func(r rune) bool { return r < 'A' }) {
		return unsure
	}
	return good
}

// dotted reports whether s is one or more words of some bytes, with a dot between two.
func dotted(s string, allowed func(byte) bool) bool {
	last := byte('.')
	for i := range len(s) {
		if s[i] == '.' && last == '.' || s[i] != '.' && !allowed(s[i]) {
			return false
		}
		last = s[i]
	}
	return last != '.'
}

func localByte(b byte) bool { return domainByte(b) || b == '_' || b == '+' }

func domainByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '-'
}
