package reducer

import "fmt"

// InvalidError says that a change or operation has an unknown kind, or a number of values that does not fit
// its kind.
type InvalidError struct {
	Kind OpKind
	// Values is how many there were.
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

// EncodeError says that a value of a change has no JSON form, or that one of an operation does not fit its Go
// type.
type EncodeError struct {
	// Slice is the name of the slice.
	Slice string
	// Index is that of the value among those of the change, from 0.
	Index int
	// Cause says what does not fit, in words that are the same in every run.
	Cause error
}

// Error names the slice and the value.
func (e *EncodeError) Error() string {
	return fmt.Sprintf("slice %q, value %d of the change: %v", e.Slice, e.Index, e.Cause)
}

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Cause }
