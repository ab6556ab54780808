package result

// Opt is a value that may be unknown, where zero means something of its own. The zero Opt is unknown.
type Opt[T any] struct {
	Value T
	Known bool
}

// Some returns a known value.
func Some[T any](v T) Opt[T] { return Opt[T]{Value: v, Known: true} }

// Or returns the value, or otherwise if it is unknown.
func (o Opt[T]) Or(otherwise T) T {
	if o.Known {
		return o.Value
	}
	return otherwise
}

// known returns the value, or nil if it is unknown.
func (o Opt[T]) known() any {
	if !o.Known {
		return nil
	}
	return o.Value
}
