package reducer

import (
	"errors"
	"fmt"
)

// OpKind is the stable name of an operation on a slice. The zero value is invalid, so that a forgotten return
// value is noticed.
type OpKind string

// The kinds of operations.
const (
	// OpAppend adds one value at the end.
	OpAppend OpKind = "append"
	// OpExtend adds any number of values at the end.
	OpExtend OpKind = "extend"
	// OpReplace replaces all values by any number of values.
	OpReplace OpKind = "replace"
	// OpClear removes all values.
	OpClear OpKind = "clear"
	// OpNone leaves the slice as it is.
	OpNone OpKind = "none"
)

// takes reports how many values a kind takes. most < 0 means any number; no number fits an unknown kind.
func (k OpKind) takes() (least, most int) {
	switch k {
	case OpAppend:
		return 1, 1
	case OpExtend, OpReplace:
		return 0, -1
	case OpClear, OpNone:
		return 0, 0
	}
	return 1, 0
}

// Keeps reports whether the operation keeps all existing values. A log allows only such operations.
func (k OpKind) Keeps() bool { return k == OpAppend || k == OpExtend || k == OpNone }

// Change is the operation that a reducer asks for. It is plain data. The zero value is invalid.
type Change[T any] struct {
	Kind OpKind
	// Values are the values to add, or those that replace the old ones: one for an append, none for clear and
	// none.
	Values []T
}

// Append adds one value at the end.
func Append[T any](value T) Change[T] { return Change[T]{Kind: OpAppend, Values: []T{value}} }

// Extend adds the values at the end, in their order.
func Extend[T any](values ...T) Change[T] { return Change[T]{Kind: OpExtend, Values: values} }

// Replace replaces all values by these.
func Replace[T any](values ...T) Change[T] { return Change[T]{Kind: OpReplace, Values: values} }

// Clear removes all values.
func Clear[T any]() Change[T] { return Change[T]{Kind: OpClear} }

// None leaves the slice as it is.
func None[T any]() Change[T] { return Change[T]{Kind: OpNone} }

// Apply returns the values of the view after the change, in a new slice that is never nil. Use it to test
// reducers. An invalid change changes nothing.
func (c Change[T]) Apply(view View[T]) []T {
	held := make([]T, 0, view.Len()+len(c.Values))
	for _, v := range view.All() {
		held = append(held, v)
	}
	switch {
	case checkShape(c.Kind, len(c.Values)) != nil || c.Kind == OpNone:
		return held
	case c.Kind.Keeps():
		return append(held, c.Values...)
	}
	return append([]T{}, c.Values...)
}

// checkShape says what would be right of a change with an unknown kind, or with a number of values that its
// kind does not take.
func checkShape(kind OpKind, values int) error {
	least, most := kind.takes()
	switch {
	case values >= least && (most < 0 || values <= most):
		return nil
	case kind == "":
		return errors.New("a change without a kind: use Append, Extend, Replace, Clear or None")
	case least > most && most == 0:
		return fmt.Errorf("unknown kind of change %q", string(kind))
	case most == 0:
		return fmt.Errorf("%s takes no values, got %d", kind, values)
	}
	return fmt.Errorf("%s takes exactly one value, got %d", kind, values)
}
