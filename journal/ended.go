package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Ended is how an action with an ID ended, or a run whose request has an ID. The journal keeps it,
// even when it is compacted, unless a retention drops it: see [CompactKeeping]. It is read-only.
type Ended struct {
	// ID is the ID of the action, or of the request if Request is set. Action is the tool of the action;
	// empty for a final answer.
	ID      string `json:"id"`
	Request bool   `json:"request,omitempty"`
	Action  string `json:"action"`
	// Prompt is the digest of the prompt of a request; empty if nobody can make it.
	Prompt string `json:"prompt,omitempty"`
	// At is when it ended.
	At time.Time `json:"at,omitzero"`
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

// ends are the actions and requests that have ended, in the order of their ends.
type ends struct {
	all []Ended
	// by maps IDs to indices; may be nil.
	by map[endKey]int
}

// endKey names an action or a request.
type endKey struct {
	request bool
	id      string
}

// add adds the end of an action. The first end of an ID counts.
func (e *ends) add(one Ended) {
	key := endKey{one.Request, one.ID}
	if _, there := e.by[key]; there {
		return
	}
	if e.by == nil {
		e.by = map[endKey]int{}
	}
	e.by[key] = len(e.all)
	e.all = append(e.all, one)
}

// ended returns the end of an action or a request, or nil if it has not ended.
func (f *Fold) ended(key endKey) *Ended {
	if f == nil {
		return nil
	}
	if n, there := f.ends.by[key]; there {
		return &f.ends.all[n]
	}
	return nil
}

// end records the outcome of the run, if its action or request has an ID, and whether calls are in doubt.
func (f *Fold) end(o *machine.Outcome) {
	f.doubt = f.doubt || len(o.InDoubt) > 0
	cfg, key := &f.Header.Config, f.endKey()
	one := Ended{ID: key.id, Request: key.request, Action: cfg.Action, At: f.State.At, Outcome: *o,
		Redacted: f.Header.Redaction != nil}
	if one.ID == "" {
		return
	}
	if one.Request {
		one.Prompt = f.prompt
	}
	// Its attempts and notes are not kept where it succeeded.
	one.Outcome.Warnings = slices.Concat(f.State.Warned(), f.Warnings())
	if !o.OK {
		one.Attempts, one.Policy = f.State.Attempts(), f.State.Policy
		one.Seed = f.Header.Seed()
	}
	f.ends.add(one)
}

// endKey names the action or request of the run; its ID may be empty.
func (f *Fold) endKey() endKey {
	cfg := &f.Header.Config
	if cfg.Single {
		return endKey{id: cfg.ActionID}
	}
	return endKey{true, cfg.RequestID}
}

// warn adds a warning to the end of the run, if it has ended.
func (f *Fold) warn(text string) {
	n, there := f.ends.by[f.endKey()]
	if !there || f.State.Phase != machine.Stopped || !f.ends.all[n].At.Equal(f.State.At) {
		return
	}
	f.ends.all = slices.Clone(f.ends.all)
	warnings := &f.ends.all[n].Outcome.Warnings
	*warnings = append(slices.Clip(*warnings), text)
}

// Ended returns the recorded end of an action, or nil if it has not ended. It returns [ErrRedacted] if the
// run was redacted and the settings cannot restore what was left out.
func (j *Journal) Ended(id string) (*Ended, error) { return j.endOf("action", endKey{id: id}) }

// Answered is [Journal.Ended] for the run that answered the request with that ID. If there are several, the
// first counts.
func (j *Journal) Answered(requestID string) (*Ended, error) {
	return j.endOf("request", endKey{true, requestID})
}

// Asked reports whether a request that has ended had this prompt. It is true if the journal cannot tell.
func (j *Journal) Asked(end *Ended, prompt message.Message) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := newDigester()
	if end.Redacted {
		d = newKeyedDigester(j.session, j.file.key)
	}
	is, err := d.message(prompt)
	return end.Prompt == "" || err != nil || is == end.Prompt
}

func (j *Journal) endOf(kind string, key endKey) (*Ended, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	end, lost := j.ended(key)
	if lost {
		return nil, fmt.Errorf("%w: %s %q has ended, but its end is available only if the settings have the "+
			"store of what was left out (redact: transcripts)", ErrRedacted, kind, key.id)
	}
	return end, nil
}
