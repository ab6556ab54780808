package machine

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/internal/seq"
)

// doubt is a call that ended without saying whether it had an effect. Its action stays open within the run.
type doubt struct {
	CallRef
	// Arguments are in the form of [exact].
	Arguments json.RawMessage `json:"arguments"`
	// standing is that of the call, but First is also set for one that repeats none.
	standing
}

// CallRef names a call of a run.
type CallRef struct {
	Tool string `json:"tool"`
	// CallID is the id of the call in its reply.
	CallID string `json:"call_id,omitempty"`
	// Key is its idempotency key. The same call made again has the same key if it was in doubt.
	Key string `json:"key"`
}

func (c *BatchCall) ref() CallRef { return CallRef{c.Tool, c.ID, c.Key} }

// inDoubt reports that the call may have had an effect that nobody knows of.
func (c *BatchCall) inDoubt() bool { return c.Status == callDoubtful && !c.ReadOnly }

// addDoubt records a call that ended in doubt, unless its tool is read-only.
func (s *step) addDoubt(c *BatchCall) {
	s.closeDoubt(c)
	if c.ReadOnly {
		return
	}
	d := doubt{CallRef: c.ref(), Arguments: c.exact(), standing: c.standing}
	d.First = s.placeOf(c)
	s.doubts = s.doubts.Append(d)
}

// closeDoubt removes a call that was in doubt and now has an outcome.
func (s *step) closeDoubt(c *BatchCall) {
	if s.doubtOf(c.Key) == nil {
		return
	}
	left := slices.DeleteFunc(slices.Clone(s.doubts.From(0)), func(d doubt) bool { return d.Key == c.Key })
	s.doubts = seq.Of(left...)
}

// doubtOf returns the call in doubt with a key, or nil.
func (st *State) doubtOf(key string) *doubt {
	all := st.doubts.From(0)
	for n := range all {
		if all[n].Key == key {
			return &all[n]
		}
	}
	return nil
}

// InDoubt returns the calls of the run that ended without saying whether they had an effect, in the order of
// their ends. The same call made again has the same key.
func (st State) InDoubt() (all []CallRef) {
	for _, d := range st.doubts.All() {
		all = append(all, d.CallRef)
	}
	return all
}

// repeatedDoubt returns the call in doubt that a call repeats, or nil. arguments are in the form of [exact].
// twins is the number of identical calls before it in the reply, and selects among equal calls in doubt.
func (st *State) repeatedDoubt(tool string, arguments []byte, twins int) *doubt {
	all := st.doubts.From(0)
	for n := range all {
		d := &all[n]
		if d.Tool != tool || !bytes.Equal(d.Arguments, arguments) {
			continue
		}
		if twins == 0 {
			return d
		}
		twins--
	}
	return nil
}
