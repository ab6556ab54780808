package schema

import "reflect"

// ForAnew is For without what was made before.
func ForAnew[T any]() (*Typed[T], error) {
	of, err := goTypeOf(reflect.TypeFor[T]())
	return &Typed[T]{of}, err
}

// AcceptedByRules reports whether a document decodes into a value that keeps to the rules of its type, whatever the schema says.
func AcceptedByRules[T any](t *Typed[T], doc []byte) bool {
	root, issue := parse(string(doc), t.of.schema.limits)
	if issue != nil {
		return false
	}
	var v T
	b := binder{text: string(doc)}
	b.bind(root, reflect.ValueOf(&v).Elem())
	return b.issues == nil && t.of.rules(&v) == nil
}

// TooMuchWork is what is expected where a budget is spent.
const TooMuchWork = tooMuchWork

// WorkOf is how much work a check takes.
func WorkOf(s *Schema, doc []byte) int {
	b := NewBudget()
	s.CheckWithin(b, doc)
	return maxWork - b.left
}

// MaxWork is the budget of a reply.
const MaxWork = maxWork
