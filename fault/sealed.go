package fault

// Sealed is an error that ends work of its own: a run, an action, a call of a tool, a panic. What it wraps
// was said about that work. Around it the error is one like any other: [Own], [OwnIs] and [TypedFailure] do
// not look into it. errors.Is and errors.As do.
type Sealed interface {
	error
	// Sealed reports whether the error is of other work than a call of the named tool.
	Sealed(tool string) bool
}

// Own is [errors.AsType] for what a call of a tool says itself: it does not look into errors that are
// [Sealed] for the tool.
func Own[E error](tool string, err error) (own E, found bool) {
	outside(tool, err, func(e error) bool {
		if own, found = e.(E); !found {
			as, ok := e.(interface{ As(any) bool })
			found = ok && as.As(&own)
		}
		return found
	})
	return own, found
}

// OwnIs is [errors.Is] for what a call of a tool says itself: see [Own]. target must be comparable.
func OwnIs(tool string, err, target error) bool {
	return outside(tool, err, func(e error) bool {
		is, ok := e.(interface{ Is(error) bool })
		return e == target || ok && is.Is(target)
	})
}

// outside is [has] for all but what sealed errors wrap.
func outside(tool string, err error, match func(error) bool) bool {
	left := maxChain
	return walk(err, match, func(e error) bool { return sealed(tool, e) }, &left)
}

func sealed(tool string, err error) bool {
	s, ok := err.(Sealed)
	return ok && s.Sealed(tool)
}
