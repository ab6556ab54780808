package machine

import "slices"

// Doubt is a call that ended without saying whether it had an effect. Its action stays open within the run.
type Doubt struct {
	DoubtfulCall
	Arguments string `json:"arguments"`
}

// DoubtfulCall is a call of a run whose effect is unknown.
type DoubtfulCall struct {
	Tool string `json:"tool"`
	// CallID is the id of the call in its reply.
	CallID string `json:"call_id,omitempty"`
	// Key is its idempotency key.
	Key string `json:"key"`
}

// doubtful returns the calls in doubt, in the order of their ends.
func (st *State) doubtful() (all []DoubtfulCall) {
	for _, d := range st.InDoubt {
		all = append(all, d.DoubtfulCall)
	}
	return all
}

// openKey returns the key of the call in doubt that a call repeats, or "". Its arguments are in the form of
// [alike]. twins is how many identical calls precede it in the reply: among several calls in doubt it selects
// the one at that index.
func (st *State) openKey(tool string, arguments []byte, twins int) string {
	for n := range st.InDoubt {
		d := &st.InDoubt[n]
		if d.Tool != tool || alike(d.Arguments) != string(arguments) {
			continue
		}
		if twins == 0 {
			return d.Key
		}
		twins--
	}
	return ""
}

// inDoubt reports that the call may have had an effect that nobody knows of.
func (c *BatchCall) inDoubt() bool { return c.Status == Doubtful && !c.ReadOnly }

// leaveOpen records a call that ended in doubt, unless its tool has no effects.
func (s *step) leaveOpen(c *BatchCall) {
	s.closeDoubt(c)
	if c.ReadOnly {
		return
	}
	s.InDoubt = append(slices.Clip(s.InDoubt), Doubt{DoubtfulCall{c.Tool, c.ID, c.Key}, c.Arguments})
}

// closeDoubt removes a call that was in doubt and now has an outcome.
func (s *step) closeDoubt(c *BatchCall) {
	at := slices.IndexFunc(s.InDoubt, func(d Doubt) bool { return d.Key == c.Key })
	if at < 0 {
		return
	}
	if s.InDoubt = slices.Concat(s.InDoubt[:at], s.InDoubt[at+1:]); len(s.InDoubt) == 0 {
		s.InDoubt = nil
	}
}
