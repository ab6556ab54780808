package engine

import (
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// EndOf converts a tool's outcome for the core, before reducers run. It names the events of the call that
// nobody hears in s; nil names none.
func EndOf(s *session.Session, run machine.ToolRun, out tool.Outcome) *machine.ToolEnd {
	end := &machine.ToolEnd{Index: run.Index, Progress: out.Progress, Usage: out.Usage, Cost: out.Cost,
		InDoubt: out.InDoubt}
	switch {
	case out.Err != nil:
		f := fault.Recordable(out.Failure(), out.Err)
		end.Verdict, end.Failure, end.RateLimit = machine.Broke, &f, RateLimit(out.Err)
		if _, later := out.Later(); later {
			end.Verdict = machine.TryLater
		} else if out.Unknown() {
			end.Verdict = machine.Unknown
		}
	case len(out.Issues) > 0:
		end.Verdict, end.Issues = machine.AskAgain, fault.PrintableIssues(out.Issues)
	case out.Failed != "":
		end.Verdict, end.Text, end.Parts = machine.Failed, canon.UTF8(out.Failed), out.Parts
		end.Whole = out.Whole
	default:
		end.Verdict, end.Result, end.Parts = machine.Done, out.Result, out.Parts
		if s != nil {
			end.Unheard = unheard(s, out)
		}
	}
	return end
}

// CutOff sets what an outcome says of doubt where an earlier try of the call began and was cut off: that the
// call had no effect is no word about that try. A call that succeeds leaves nothing in doubt.
func CutOff(out *tool.Outcome) {
	denies := out.Err == nil && out.Result == nil
	if out.Err != nil {
		_, later := out.Later()
		denies = later || out.Failure().Plane == fault.Correction
	}
	out.InDoubt = out.InDoubt || denies
}

// CauseOf returns why a run was ended or cannot continue, for an event; nil for a nil error. Its types count,
// not its words.
func CauseOf(err error) *fault.Failure {
	if err == nil {
		return nil
	}
	f := fault.Recordable(fault.TypedFailure(err), err)
	if f.Class == fault.ToolExecution {
		f.Class = fault.Unknown
	}
	return &f
}

// RateLimit returns what an error says of rate limits, to be recorded beside its failure; nil if it says
// nothing. Values that were not used are left out.
func RateLimit(err error) *ratelimit.State {
	state := ratelimit.OfError(err)
	if !state.Limited && !state.RetryAfter.Known && !state.Wait.Known && len(state.Windows) == 0 {
		return nil
	}
	state.Ignored, state.Windows = nil, slices.Clone(state.Windows)
	for n := range state.Windows {
		w := &state.Windows[n]
		w.Name, w.Resource = canon.UTF8(w.Name), canon.UTF8(w.Resource)
	}
	if _, err := canon.Marshal(state); err != nil {
		return nil
	}
	return new(state)
}

// PlannerError is the error of a run whose planner returned an error. It is safe for concurrent reading.
type PlannerError struct {
	// Err is the planner's error. Asked is the error that the planner was asked about, or nil.
	Err, Asked error
}

// Error returns the text of both errors, as far as they have one.
func (e *PlannerError) Error() string {
	if e.Asked == nil || e.Asked.Error() == "" {
		return e.Words()
	}
	return e.Words() + "; it was asked about: " + e.Asked.Error()
}

// Words returns the text of the planner's error.
func (e *PlannerError) Words() string {
	if e.Err == nil {
		return "planner: it gave no plan"
	}
	return "planner: " + e.Err.Error()
}

// Unwrap returns both errors.
func (e *PlannerError) Unwrap() []error {
	if e.Asked == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Asked}
}
