package machine

import (
	"errors"
	"fmt"
	"slices"
)

// Behaviour names a change of what the core decides. A run keeps the behaviours that it began with, so that
// journals and histories of before the change still replay: where its config lacks one, the core decides as
// it did before.
type Behaviour string

// Behaviours are all that this version has, in the order of their introduction: what new runs begin with.
// There is none beside what the first release does. None is ever renamed or taken away. The slice is the
// caller's own.
func Behaviours() []Behaviour { return nil }

// checkBehaviours says which behaviours this version does not have.
func checkBehaviours(all []Behaviour) error {
	var errs []error
	for n, b := range all {
		if !slices.Contains(Behaviours(), b) {
			errs = append(errs, fmt.Errorf("behaviours[%d]: %q is not known: it was begun by a newer version", n, string(b)))
		}
	}
	return errors.Join(errs...)
}
