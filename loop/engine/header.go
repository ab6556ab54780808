package engine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// Header returns the header of a run's journal, except for what [journal.Journal.Begin] sets.
func Header(m machine.Config, on Offer) journal.Header {
	h := journal.Header{Config: m, Resolved: resolved(&m)}
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

// resolved explains the policies: of the answer or the single action, of the transport plane, and of each
// tool that the policy names.
func resolved(m *machine.Config) []journal.Resolved {
	own := m.Policy.Explain(policy.Target{Tool: m.Action})
	transport := m.Policy.Explain(policy.Target{Plane: fault.Transport})
	all := []journal.Resolved{{Action: m.Action, Explanation: own}, {Transport: true, Explanation: transport}}
	for _, name := range canon.Keys(m.Policy.Tools) {
		e := m.Policy.Explain(policy.Target{Tool: name})
		all = append(all, journal.Resolved{Action: name, Explanation: e})
	}
	return all
}
