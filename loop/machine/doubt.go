package machine

import "slices"

// Doubt is a call that ended without saying whether its effect happened: its line of tries stays open within
// the run.
type Doubt struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	Key       string `json:"key"`
}

// openKey is the key of the call in doubt that a call makes again: of several the one that as many identical
// calls of the reply stand before. It is empty where there is none.
func (st *State) openKey(tool string, arguments []byte, twins int) string {
	for n := range st.InDoubt {
		d := &st.InDoubt[n]
		if d.Tool != tool || d.Arguments != string(arguments) {
			continue
		}
		if twins == 0 {
			return d.Key
		}
		twins--
	}
	return ""
}

// leaveOpen remembers a call that ended in doubt.
func (s *step) leaveOpen(c *BatchCall) {
	s.closeDoubt(c)
	s.InDoubt = append(slices.Clip(s.InDoubt), Doubt{Tool: c.Tool, Arguments: c.Arguments, Key: c.Key})
}

// closeDoubt forgets a call that was in doubt: it has an outcome.
func (s *step) closeDoubt(c *BatchCall) {
	at := slices.IndexFunc(s.InDoubt, func(d Doubt) bool { return d.Key == c.Key })
	if at < 0 {
		return
	}
	if s.InDoubt = slices.Concat(s.InDoubt[:at], s.InDoubt[at+1:]); len(s.InDoubt) == 0 {
		s.InDoubt = nil
	}
}
