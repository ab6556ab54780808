package reducer

// OpKind is the stable name of what happens to a slice. The zero value is invalid, so that a forgotten return
// is noticed.
type OpKind string

// The kinds of operations.
const (
	// OpAppend adds one value at the end.
	OpAppend OpKind = "append"
	// OpExtend adds any number of values at the end.
	OpExtend OpKind = "extend"
	// OpReplace puts any number of values in the place of all there were.
	OpReplace OpKind = "replace"
	// OpClear removes all values.
	OpClear OpKind = "clear"
	// OpNone leaves the slice as it is.
	OpNone OpKind = "none"
)

// kindEntry is what there is to know of a kind: how many values it takes (most < 0: any number), and its verb
// in a line for people.
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

// find returns the entry of a kind, or the last one where it is unknown.
func find(kind OpKind) (entry *kindEntry, known bool) {
	for n := range kinds {
		if entry = &kinds[n]; entry.kind == kind {
			return entry, kind != ""
		}
	}
	return entry, false
}

// Keeps reports whether the operation keeps every value there was; only such are allowed on a log.
func (k OpKind) Keeps() bool { return k == OpAppend || k == OpExtend || k == OpNone }

// Change is what a reducer wants done to its slice, as a value: compare and print it freely. The zero value
// is invalid.
type Change[T any] struct {
	Kind OpKind
	// Values are those to add or to put in place: one for an append, none for clear and none.
	Values []T
}

// Append adds one value at the end.
func Append[T any](value T) Change[T] { return Change[T]{Kind: OpAppend, Values: []T{value}} }

// Extend adds the values at the end, in their order.
func Extend[T any](values ...T) Change[T] { return Change[T]{Kind: OpExtend, Values: values} }

// Replace puts the values in the place of all there were.
func Replace[T any](values ...T) Change[T] { return Change[T]{Kind: OpReplace, Values: values} }

// Clear removes all values.
func Clear[T any]() Change[T] { return Change[T]{Kind: OpClear} }

// None leaves the slice as it is.
func None[T any]() Change[T] { return Change[T]{Kind: OpNone} }

// Validate returns nil where the kind is known and the number of values fits it; else an [*InvalidError].
func (c Change[T]) Validate() error { return checkShape(c.Kind, len(c.Values)) }

// Changes reports whether the change does anything at all.
func (c Change[T]) Changes() bool { return changes(c.Kind, len(c.Values)) }

// Apply returns what a slice that held the values of the view holds after the change, in a Go slice of its
// own that is never nil: for the tests of a reducer. The change must be valid; an invalid one changes
// nothing.
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
	return &InvalidError{Kind: kind, Values: values}
}

func changes(kind OpKind, values int) bool { return kind == OpReplace || kind == OpClear || values > 0 }
