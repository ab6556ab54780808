package reducer

import "fmt"

// InvalidError reports a change or operation with an unknown kind, or with a number of values that its kind
// does not take.
type InvalidError struct {
	Kind OpKind
	// Values is the number of values.
	Values int
}

// Error says what would be right.
func (e *InvalidError) Error() string {
	k, known := find(e.Kind)
	switch {
	case e.Kind == "":
		return "a change without a kind: use Append, Extend, Replace, Clear or None"
	case !known:
		return fmt.Sprintf("unknown kind of change %q", string(e.Kind))
	case k.most == 0:
		return fmt.Sprintf("%s takes no values, got %d", e.Kind, e.Values)
	}
	return fmt.Sprintf("%s takes exactly one value, got %d", e.Kind, e.Values)
}

// EncodeError reports a value of a change that has no JSON form, or one of an operation that does not fit its
// Go type.
type EncodeError struct {
	// Slice is the name of the slice.
	Slice string
	// Index is the index of the value among those of the change, from 0.
	Index int
	// Cause says what does not fit. Its text is the same in every run.
	Cause error
}

// Error names the slice and the value.
func (e *EncodeError) Error() string {
	return fmt.Sprintf("slice %q, value %d of the change: %v", e.Slice, e.Index, e.Cause)
}

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Cause }
