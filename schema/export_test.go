package schema

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// ForAnew is For, but makes the schema anew.
func ForAnew[T any]() (*Typed[T], error) {
	s, err := schemaOf(reflect.TypeFor[T]())
	return &Typed[T]{s}, err
}

// ForType is For, for a type that is known when the program runs.
func ForType(t reflect.Type) (*Schema, error) { return schemaOf(t) }

// ByRules is the verdict of the validator alone on the decoded document. judges is false if a member is
// missing or null, because the validator cannot see that.
func ByRules[T any](t *Typed[T], doc []byte) (good, judges bool) {
	root, issue := new(tree).parse(string(doc), t.schema.limits)
	if issue != nil {
		return false, true
	}
	var v T
	e := t.schema.evaluation(nil)
	at := collector{evaluation: e}
	at.bind(anything, root, bare(t.schema.typed.root, map[*layout]*layout{}), reflect.ValueOf(&v).Elem())
	if len(e.found) > 0 {
		return false, true
	}
	whole, _ := json.Marshal(v)
	written, _ := new(tree).parse(string(whole), Limits{MaxBytes: 1 << 24, MaxDepth: 1000, MaxValues: 1 << 20})
	if strings.Contains(string(doc), "null") || !written.isThere() || membersOf(written) > membersOf(root) {
		return false, false
	}
	base, _ := indirect(t.schema.typed.typ)
	if classOf(base) == classStruct {
		return currentValidators().Struct(&v) == nil, true
	}
	return currentValidators().Var(v, "dive") == nil, true
}

// bare is a spot without rules.
func bare(at *spot, made map[*layout]*layout) *spot {
	if at == nil {
		return nil
	}
	own := *at
	own.rules, own.rounded, own.related, own.key, own.each = nil, nil, nil, nil, bare(at.each, made)
	if own.members != nil && made[own.members] == nil {
		l := &layout{byName: at.members.byName}
		made[at.members] = l
		for _, m := range at.members.members {
			l.members = append(l.members, member{name: m.name, index: m.index, spot: bare(m.spot, made)})
		}
	}
	own.members = made[at.members]
	return &own
}

func membersOf(v value) int {
	n := 0
	for child := range v.children {
		n += 1 + membersOf(child)
	}
	return n
}

// TooMuchWork is the Expected of an issue "work".
const TooMuchWork = tooMuchWork

// WorkOf is how much work a check takes.
func WorkOf(s *Schema, doc []byte) int {
	b := NewBudget()
	s.Read(b, string(doc))
	return maxWork - b.left
}

// MaxWork is the budget of a reply.
const MaxWork = maxWork

// CompareNumbers compares two JSON numbers, and writes each in the one form of equal numbers.
func CompareNumbers(a, b string) (compared int, first, second string) {
	to := bound{at: exactly(b)}.withNear()
	n, _ := strconv.ParseFloat(a, 64)
	return to.compare(a, n), plainNumber(a), plainNumber(b)
}

// RuleWord is the words of a rule.
type RuleWord struct{ Tag, Words string }

// RuleWords are the words of all rules.
func RuleWords() (all []RuleWord) {
	for _, r := range rows() {
		all = append(all, RuleWord{r.tag, r.words})
	}
	return all
}
