package machine

import (
	"slices"

	"github.com/retake-go/retake/policy"
)

// rest is what a run has left when the calls of a reply are made, for the runs within them. Calls begin at
// other times, and after a crash at others again, so none of them has what is left when it begins.
type rest struct {
	// Sharers is the number of calls to run. Failed is the number of failed attempts in the run.
	Sharers int64 `json:"sharers"`
	Failed  int   `json:"failed,omitempty"`
	// Spent is what was spent, or nil if nothing bounds that. The actions are those of the tools of the reply, in
	// the order of each tool's first call.
	Spent *policy.Spent `json:"spent,omitempty"`
}

// keepRest notes what is left for the calls of the batch, if there is one.
func (s *step) keepRest() {
	if s.Batch == nil {
		return
	}
	b := s.copyBatch()
	r := rest{Sharers: int64(b.left()), Failed: s.Spent.Run}
	if !s.Policy.Spending.IsZero() {
		r.Spent = &policy.Spent{Run: s.Charged, Session: s.Session.Charged()}
		for _, tool := range b.tools() {
			var spent policy.Charge
			if a := s.find(tool); a != nil {
				spent = a.Charged
			}
			r.Spent.Actions = append(r.Spent.Actions, spent)
		}
	}
	b.Rest = &r
}

// Rest returns what the run has left for a run within a call of the batch: what was left when the calls of
// the reply were made, or when a plan or a person's answer made the budgets begin anew. The calls that were
// to run then divide it. It stays the same until the batch ends, so that a call has the same after a crash.
func (st *State) Rest(call int) policy.Rest {
	left := policy.Rest{Set: st.Policy, Sharers: 1}
	r := st.Batch.Rest
	if r == nil {
		return left
	}
	if left.Sharers, left.Failed = r.Sharers, r.Failed; r.Spent == nil {
		return left
	}
	all := r.Spent.Actions
	left.Spent = policy.Spent{Run: r.Spent.Run, Session: r.Spent.Session}
	at := slices.Index(st.Batch.tools(), st.Batch.Calls[call].Tool)
	if at < len(all) {
		left.Spent.Actions = all[at : at+1 : at+1]
	}
	return left
}
