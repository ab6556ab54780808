// Package chain looks for errors in the tree of what an error wraps. It is pure.
package chain

import "errors"

// Has reports whether match is true for err or an error that it wraps, the outermost first. It looks at no
// more than 256 errors, so that no chain can hang it.
func Has(err error, match func(error) bool) bool {
	left := most
	return walk(err, match, nil, &left)
}

// Sealed reports whether an error says that it is of other work than a call of the named tool: see
// fault.Sealed.
func Sealed(tool string, err error) bool {
	s, ok := err.(interface{ Sealed(tool string) bool })
	return ok && s.Sealed(tool)
}

// Outside is [Has] for all but what errors wrap that are [Sealed] for the tool.
func Outside(tool string, err error, match func(error) bool) bool {
	left := most
	return walk(err, match, func(e error) bool { return Sealed(tool, e) }, &left)
}

// Own is [errors.AsType] for what a call of a tool says itself: it does not look into errors that are
// [Sealed] for the tool.
func Own[E error](tool string, err error) (own E, found bool) {
	Outside(tool, err, func(e error) bool {
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
	return Outside(tool, err, func(e error) bool {
		is, ok := e.(interface{ Is(error) bool })
		return e == target || ok && is.Is(target)
	})
}

// most is how many errors of a chain are looked at.
const most = 256

// walk does not look into an error for which stop is true; nil looks into all.
func walk(err error, match, stop func(error) bool, left *int) bool {
	for ; err != nil && *left > 0; *left-- {
		if match(err) {
			return true
		}
		if stop != nil && stop(err) {
			return false
		}
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				if walk(e, match, stop, left) {
					return true
				}
			}
			return false
		}
		err = errors.Unwrap(err)
	}
	return false
}
