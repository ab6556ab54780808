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

// kindEntry describes a kind: how many values it takes (most < 0 means any number), and its verb as text.
type kindEntry struct {
	kind        OpKind
	least, most int
	phrase      string
}

var kinds = [...]kindEntry{
	{OpAppend, 1, 1, "append to"},
	{OpExtend, 0, -1, "extend"},
	{OpReplace, 0, -1, "replace"},
	{OpClear, 0, 0, "clear"},
	{OpNone, 0, 0, "leave"},
	{"", 1, 0, "unknown change of"}, // fits no number of values
}

// find returns the entry of a kind, or the last entry if the kind is unknown.
func find(kind OpKind) (entry *kindEntry, known bool) {
	for n := range kinds {
		if entry = &kinds[n]; entry.kind == kind {
			return entry, kind != ""
		}
	}
	return entry, false
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

// Validate returns an error if the kind is unknown or has another number of values, else nil.
func (c Change[T]) Validate() error { return checkShape(c.Kind, len(c.Values)) }

// Changes reports whether the change does anything.
func (c Change[T]) Changes() bool { return changes(c.Kind, len(c.Values)) }

// Apply returns the values of the view after the change, in a new slice that is never nil. Use it to test
// reducers. An invalid change changes nothing.
func (c Change[T]) Apply(view View[T]) []T {
	held := make([]T, 0, view.Len()+len(c.Values))
	for _, v := range view.All() {
		held = append(held, v)
	}
	switch {
	case c.Validate() != nil || c.Kind == OpNone:
		return held
	case c.Kind.Keeps():
		return append(held, c.Values...)
	}
	return append([]T{}, c.Values...)
}

func checkShape(kind OpKind, values int) error {
	k, known := find(kind)
	if known && values >= k.least && (k.most < 0 || values <= k.most) {
		return nil
	}
	return invalid(kind, values)
}

// invalid says what would be right of a change with an unknown kind, or with a number of values that its kind
// does not take.
func invalid(kind OpKind, values int) error {
	k, known := find(kind)
	switch {
	case kind == "":
		return errors.New("a change without a kind: use Append, Extend, Replace, Clear or None")
	case !known:
		return fmt.Errorf("unknown kind of change %q", string(kind))
	case k.most == 0:
		return fmt.Errorf("%s takes no values, got %d", kind, values)
	}
	return fmt.Errorf("%s takes exactly one value, got %d", kind, values)
}

func changes(kind OpKind, values int) bool { return kind == OpReplace || kind == OpClear || values > 0 }
