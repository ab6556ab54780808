package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// leftInside is the error of a run that is left to be resumed because a run within one of its calls cannot
// write its journal. The call is made again then, and goes on inside.
type leftInside struct {
	tool string
	err  error
}

func (e *leftInside) Error() string {
	return fmt.Sprintf("%v: the run within a call of %q has no journal that can be written: %v", ErrSuspended,
		e.tool, e.err)
}

func (e *leftInside) Unwrap() []error { return []error{ErrSuspended, e.err} }

// leave notes that the run within the call is left because of err, if the call is made again.
func (o *outer) leave(err error) {
	if err != nil && o.again {
		o.stuck.Store(&leftInside{o.Run.Tool, err})
	}
}

// unwritten is why a nested run is left as it is in its journal: that cannot be written, or that of a run
// within it. It is nil for all others.
func (p *process) unwritten() error {
	if left, is := p.broke.(*leftInside); is {
		return left.err
	}
	if err := p.journal.Flush(); !errors.Is(err, journal.ErrConflict) {
		return err
	}
	return nil
}

// cut ends the calls of a reply whose context has ended: that of the run, or one of the calls was left.
func (p *process) cut(ctx context.Context) ([]machine.Effect, error) {
	if left, is := context.Cause(ctx).(*leftInside); is && p.life.Err() == nil {
		return nil, left
	}
	return p.cancel()
}
