package machine

import (
	"errors"
	"fmt"
	"slices"
)

// Behaviour names a change in what the core decides. A run keeps the behaviours it began with, so that older
// journals and histories still replay: without a behaviour in its config, the core decides as before the
// change.
type Behaviour string

// Behaviours returns all behaviours of this version, oldest first. New runs begin with all of them. There are
// none yet. A behaviour is never renamed or removed. The caller owns the slice.
func Behaviours() []Behaviour { return nil }

// checkBehaviours reports the behaviours that this version does not have.
func checkBehaviours(all []Behaviour) error {
	var errs []error
	for n, b := range all {
		if !slices.Contains(Behaviours(), b) {
			errs = append(errs, fmt.Errorf("behaviours[%d]: %q is unknown: the run was begun by a newer version", n, string(b)))
		}
	}
	return errors.Join(errs...)
}
