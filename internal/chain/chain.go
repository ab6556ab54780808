// Package chain looks for errors in the tree of what an error wraps, and names the fields of joined ones. It
// is pure.
package chain

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Bounded returns err, unless the tree of errors that it wraps is endless or has more than 256: then it
// returns an error with the same text that wraps nothing, in which [errors.Is] and [errors.As] find the first
// 256. On an endless tree they would never return. Errors of other code are bounded where they come in. In
// place of a nil pointer, whose methods may panic, it returns an error that names its type.
func Bounded(err error) error {
	if p := reflect.ValueOf(err); p.Kind() == reflect.Pointer && p.IsNil() {
		return fmt.Errorf("the error is a nil %T: return nil itself, which has no type, if there is none", err)
	}
	left, none := most, func(error) bool { return false }
	walk(err, none, func(e error) bool { _, is := e.(*bounded); return is }, &left)
	if left > 0 {
		return err
	}
	return &bounded{err}
}

// bounded is an error whose tree is not walked by others.
type bounded struct{ err error }

func (b *bounded) Error() string { return b.err.Error() }

func (b *bounded) Is(target error) bool {
	comparable := reflect.TypeOf(target).Comparable()
	return Has(b.err, func(e error) bool {
		is, ok := e.(interface{ Is(error) bool })
		return comparable && e == target || ok && is.Is(target)
	})
}

func (b *bounded) As(target any) bool {
	place := reflect.ValueOf(target).Elem()
	return Has(b.err, func(e error) bool {
		if reflect.TypeOf(e).AssignableTo(place.Type()) {
			place.Set(reflect.ValueOf(e))
			return true
		}
		as, ok := e.(interface{ As(any) bool })
		return ok && as.As(target)
	})
}

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

// Outside is [Has], but does not look into errors that are [Sealed] for the tool.
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

// most is the most errors of a chain that are looked at.
const most = 256

// walk is [Has] for at most *left errors. It does not look into an error for which stop is true; nil looks
// into all.
func walk(err error, match, stop func(error) bool, left *int) bool {
	for err != nil && *left > 0 {
		*left--
		if match(err) {
			return true
		}
		if stop != nil && stop(err) {
			return false
		}
		switch e := err.(type) {
		case *bounded:
			err = e.err
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				if walk(one, match, stop, left) {
					return true
				}
			}
			return false
		default:
			err = errors.Unwrap(err)
		}
	}
	return false
}

// At puts the path of a field before each of the faults that err joins. Nil stays nil.
func At(path string, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs := slices.Clone(joined.Unwrap())
		for n := range errs {
			errs[n] = At(path, errs[n])
		}
		return errors.Join(errs...)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}
