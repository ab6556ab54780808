package loop

import (
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// ToolBegins must be called before each call is run, in call order. It records that the call begins, so that
// a call that may have had an effect is not run again after a crash. If the journal already has an outcome,
// or the call began before and may not be repeated, ToolBegins returns the outcome: pass it to
// [Runner.ToolEnded] and do not run the tool. After an error, which means that the start could not be
// recorded, the tool must not be run either. Without a journal it is only known that the call has begun, for
// [Result].InDoubt.
func (r *Runner) ToolBegins(at time.Time, run machine.ToolRun) (*tool.Outcome, error) {
	r.begun = append(r.begun, run.Index)
	if r.resumed {
		began, landed := r.journal.Call(run.Key, run.Transport)
		if landed != nil {
			out := outcomeOf(landed)
			return &out, nil
		}
		if t, ok := r.cfg.Tools.Get(run.Tool); began && (!ok || !run.Repeatable || !t.Repeatable()) {
			return &tool.Outcome{Err: tool.ErrUnknown}, nil
		}
	}
	if r.journal == nil || r.unrecorded {
		return nil, nil
	}
	began := journal.Note{Kind: journal.ToolBegan, At: at, Key: run.Key, Transport: run.Transport, Tool: run.Tool}
	if err := r.journal.Note(began); err != nil {
		r.unrecorded = true // the run can still end in memory
		return nil, err
	}
	return nil, nil
}

// ToolPaused takes [Runner.ToolBegins] back, for a call that has stopped without an outcome and that the engine
// makes again later. If the run ends before that, the call is not in doubt. A journal keeps that it began.
func (r *Runner) ToolPaused(run machine.ToolRun) {
	r.begun = slices.DeleteFunc(r.begun, func(n int) bool { return n == run.Index })
}
