package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// fits reports what the replies of a recorded run were checked against and the offer does not have.
func (on Offer) fits(f *journal.Fold) error {
	var errs []error
	ended := f.State.Phase == machine.Stopped
	if f.Header.Output != "" && on.Output == nil && !ended {
		errs = append(errs, errors.New("loop: the resumed run wants an answer of a schema: set Config.Output"))
	}
	if was := f.Header.Config.CallsOnly; was != on.CallsOnly && !ended {
		errs = append(errs, fmt.Errorf("loop: the resumed run began with Config.CallsOnly %v: set it so", was))
	}
	for _, t := range f.Header.Tools {
		if _, ok := on.Tools.Get(t.Name); !ok {
			errs = append(errs, fmt.Errorf("loop: the resumed run has a tool %q: add it to Config.Tools", t.Name))
		}
	}
	return errors.Join(errs...)
}

// changed reports what replies were checked against and has changed.
func (on Offer) changed(h *journal.Header) []string {
	now := Header(h.Config, on)
	var warnings []string
	for _, t := range h.Tools {
		n := slices.IndexFunc(now.Tools, func(now journal.Tool) bool { return now.Name == t.Name })
		if n < 0 || now.Tools[n].Schema != t.Schema {
			warnings = append(warnings, fmt.Sprintf("tool %q has another schema than when the run began", t.Name))
		}
		if n >= 0 && now.Tools[n].Description != t.Description {
			warnings = append(warnings, fmt.Sprintf("tool %q has another description than when the run began", t.Name))
		}
	}
	if now.Output != h.Output {
		warnings = append(warnings, "the answer has another schema than when the run began")
	}
	return warnings
}

// landedError is the error of a call whose outcome is in the journal. It is recorded again as it was.
type landedError struct {
	// error is an error of the kind of the outcome.
	error
	end machine.ToolEnd
}

// Error returns the recorded text.
func (e *landedError) Error() string {
	if f := e.end.Failure; f != nil {
		return (&fault.RecordedError{Recorded: *f}).Error()
	}
	return e.error.Error()
}

// Unwrap returns the error of the kind of the outcome.
func (e *landedError) Unwrap() error { return e.error }

// outcomeOf returns the outcome that landed.
func outcomeOf(l *journal.Note) tool.Outcome {
	out := tool.Outcome{Progress: l.End.Progress, Usage: l.End.Usage, Cost: l.End.Cost, InDoubt: l.End.InDoubt}
	switch l.End.Verdict {
	case machine.Broke:
		out.Err = &fault.RecordedError{Recorded: *l.End.Failure}
	case machine.TryLater:
		f := *l.End.Failure
		out.Err = &tool.LaterError{After: f.RetryAfter, Cause: &fault.RecordedError{Recorded: f}}
	case machine.Unknown:
		out.Err = tool.ErrUnknown
	case machine.AskAgain:
		out.Issues = l.End.Issues
	case machine.Failed:
		out.Failed, out.Parts = l.End.Text, l.End.Parts
		out.Whole = l.End.Whole
	default:
		out.Result, out.Parts = l.End.Result, l.End.Parts
		out.Events = l.Events
	}
	if out.Err != nil {
		out.Err = &landedError{out.Err, *l.End}
	}
	return out
}

// Header returns the header of a run's journal, except for what [journal.Journal.Begin] sets.
func Header(m machine.Config, on Offer) journal.Header {
	h := journal.Header{Config: m}
	for _, t := range on.Tools.All() {
		on := journal.Tool{Name: t.Name(), Schema: journal.SchemaDigest(t.Parameters())}
		if words := t.Description(); words != "" {
			on.Description = journal.SchemaDigest([]byte(words))
		}
		h.Tools = append(h.Tools, on)
	}
	if on.Output != nil {
		h.Output = journal.SchemaDigest(on.Output.JSON())
	}
	return h
}
