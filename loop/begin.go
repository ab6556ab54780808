package loop

import (
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// pastCall is what a journal tells of a call that was under way when its run was left.
type pastCall struct {
	transport int
	// landed is the call's outcome, where it had one.
	landed *journal.Landed
}

// pastCalls are the calls under way that began, or landed, by their keys.
func pastCalls(f *journal.Fold) map[string]pastCall {
	past := map[string]pastCall{}
	for _, b := range f.Began {
		past[b.Key] = pastCall{transport: b.Transport}
	}
	for n := range f.Landed {
		l := &f.Landed[n]
		past[l.Key] = pastCall{transport: l.Transport, landed: l}
	}
	return past
}

// ToolBegins is called before a call is run, in call order: it records that the call begins, so that a call
// which may have had its effect is not run again after a crash. Where the journal has an outcome already, or
// tells that the call began and may not be run again, it returns that outcome: feed it by [Runner.ToolEnded],
// and do not run the tool. An error says that the begin could not be recorded: the tool must not be run
// either. Without a journal it does nothing.
func (r *Runner) ToolBegins(at time.Time, run machine.ToolRun) (*tool.Outcome, error) {
	if was, ok := r.past[run.Key]; ok && was.transport == run.Transport {
		delete(r.past, run.Key) // a later call may have the same key
		if was.landed != nil {
			out := outcomeOf(*was.landed)
			return &out, nil
		}
		if t, ok := r.cfg.Tools.Get(run.Tool); !ok || !run.Repeatable || !t.Repeatable() {
			return &tool.Outcome{Err: tool.ErrUnknown}, nil
		}
	}
	if r.journal == nil || r.unrecorded {
		return nil, nil
	}
	began := journal.Began{Key: run.Key, Transport: run.Transport, Tool: run.Tool}
	if err := r.journal.Note(journal.Note{Kind: journal.ToolBegan, At: at, Began: &began}); err != nil {
		r.unrecorded = true // the run can still be ended in memory
		return nil, err
	}
	return nil, nil
}
