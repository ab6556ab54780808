package machine

import (
	"errors"
	"fmt"
	"slices"
)

// Behaviour names a change of what the core decides. A run keeps the behaviours that it began with, so that journals and
// histories of before the change still replay: where its config lacks one, the core decides as it did before.
type Behaviour string

// The behaviours, in order of their introduction. None is ever renamed or taken away.
const (
	// BrokenReplies: a reply with finish reason "error" or "aborted" did not come through, and is asked for again under the
	// transport policy. Before, it was one that was cut off.
	BrokenReplies Behaviour = "broken_replies"
)

// Behaviours are all that this version has: what new runs begin with. The slice is the caller's own.
func Behaviours() []Behaviour { return []Behaviour{BrokenReplies} }

// has reports whether the run has a behaviour.
func (st *State) has(b Behaviour) bool { return slices.Contains(st.Config.Behaviours, b) }

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
