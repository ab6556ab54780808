package journal

import (
	"cmp"
	"fmt"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Ended is how an action with an ID ended. The journal keeps it permanently, even when it is compacted. It is
// read-only.
type Ended struct {
	// ID is the ID of the action. Action is its tool; empty for a final answer.
	ID     string `json:"id"`
	Action string `json:"action"`
	// Outcome is its end.
	Outcome machine.Outcome `json:"outcome"`
	// Seed is the seed of the jitter of its waits; empty for a success.
	Seed string `json:"seed,omitempty"`
	// Attempts are all its attempts, and Policy the policies at its end; empty for a success.
	Attempts []session.Attempt `json:"attempts,omitempty"`
	Policy   *policy.Set       `json:"policy,omitempty"`
	// Redacted reports that its run was redacted.
	Redacted bool `json:"redacted,omitempty"`
}

// ends are the actions that have ended, in the order of their ends.
type ends struct {
	all []Ended
	// by maps IDs to indices; may be nil.
	by map[string]int
}

// add adds the end of an action. The first end of an ID counts.
func (e *ends) add(one Ended) {
	if _, there := e.by[one.ID]; there {
		return
	}
	if e.by == nil {
		e.by = map[string]int{}
	}
	e.by[one.ID] = len(e.all)
	e.all = append(e.all, one)
}

// unredacted returns a copy without the ends of redacted runs.
func (e *ends) unredacted() (own ends) {
	for _, one := range e.all {
		if !one.Redacted {
			own.add(one)
		}
	}
	return own
}

// ended returns the end of an action, if it has ended.
func (f *Fold) ended(id string) (*Ended, bool) {
	if f == nil {
		return nil, false
	}
	n, there := f.ends.by[id]
	if !there {
		return nil, false
	}
	return &f.ends.all[n], true
}

// end records the outcome of the run if its action has an ID.
func (f *Fold) end(o *machine.Outcome) {
	cfg := &f.Header.Config
	if cfg.ActionID == "" {
		return
	}
	one := Ended{ID: cfg.ActionID, Action: cfg.Action, Outcome: *o, Redacted: f.Header.Redaction != nil}
	if !o.OK {
		one.Attempts, one.Policy = f.State.Attempts(), f.State.Policy
		one.Seed = cmp.Or(cfg.Seed, f.Header.Session)
	}
	f.ends.add(one)
}

// Ended returns the recorded end of an action, or nil if it has not ended. It returns [ErrRedacted] if the
// run was redacted and the settings cannot restore what was left out.
func (j *Journal) Ended(id string) (*Ended, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.real != j.written {
		if end, there := j.real.ended(id); there {
			return end, nil
		}
	}
	end, there := j.written.ended(id)
	if there && end.Redacted {
		return nil, fmt.Errorf("%w: action %q has ended, but its end is available only if the settings have the store of what was left out (redact: transcripts)", ErrRedacted, id)
	}
	return end, nil
}

// realEnds returns the unredacted ends of actions, for the next redacted run.
func (j *Journal) realEnds() ends {
	if j.redactor == nil || j.real == nil {
		return ends{}
	}
	if j.real == j.written {
		return j.real.ends.unredacted()
	}
	return j.real.ends
}
