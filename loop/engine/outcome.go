package engine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// EndOf is a tool's outcome as the core sees it, without what reducers make of it.
func EndOf(run machine.ToolRun, out tool.Outcome) *machine.ToolEnd {
	end := &machine.ToolEnd{Index: run.Index, Progress: out.Progress}
	switch {
	case out.Err != nil:
		f := fault.Recordable(out.Failure(), out.Err)
		end.Verdict, end.Failure = machine.Broke, &f
		if _, later := out.Later(); later {
			end.Verdict = machine.TryLater
		} else if out.Unknown() {
			end.Verdict = machine.Unknown
		}
	case len(out.Issues) > 0:
		end.Verdict, end.Issues = machine.AskAgain, fault.PrintableIssues(out.Issues)
	case out.Failed != "":
		end.Verdict, end.Text = machine.Failed, canon.UTF8(out.Failed)
	default:
		end.Verdict, end.Result, end.Parts = machine.Done, out.Result, out.Parts
	}
	return end
}

// PlannerError is what a run ends with whose planner returned an error. Safe for concurrent reading.
type PlannerError struct {
	// Err is the planner's own, Asked the one that it was asked about; nil for none.
	Err, Asked error
}

// Error names both.
func (e *PlannerError) Error() string {
	if e.Asked == nil {
		return e.Words()
	}
	return e.Words() + "; it was asked about: " + e.Asked.Error()
}

// Words are the planner's own error, alone.
func (e *PlannerError) Words() string { return "planner: " + e.Err.Error() }

// Unwrap returns both.
func (e *PlannerError) Unwrap() []error {
	if e.Asked == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Asked}
}
