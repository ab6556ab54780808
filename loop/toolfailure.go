package loop

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
)

// ToolFailure is a call of a tool that failed: see [Result]. It is safe for concurrent reading.
type ToolFailure struct {
	machine.ToolFailure
	// Err is what the tool returned, so that errors.As finds its own types. If the call was made in another
	// process, or the end of the run was read from the journal, it is a [fault.RecordedError] with the text.
	Err error `json:"-"`
}

// toolFailures returns the failed calls of a run with their Go errors, as far as these are at hand.
func toolFailures(failed []machine.ToolFailure, errs []error) []ToolFailure {
	if len(failed) == 0 {
		return nil
	}
	all := make([]ToolFailure, len(failed))
	for n, f := range failed {
		all[n] = ToolFailure{f, &fault.RecordedError{Recorded: fault.Failure{Plane: fault.Transport, Class: f.Class,
			Message: f.Text}}}
		if n < len(errs) && errs[n] != nil {
			all[n].Err = errs[n]
		}
	}
	return all
}
