package report

import (
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// explain is the explanation of the policy that a decision was taken by; nil where no page is made.
func (r *run) explain(d *machine.Decision) policy.Explanation {
	if r.kept.bytes == 0 {
		return nil
	}
	transport := d.Plane == fault.Transport
	key := fmt.Sprintf("%t %d %s", transport, r.adjusted, d.Action)
	if known, ok := r.policies[key]; ok {
		return known
	}
	_, resolved := policy.Resolve(r.ledger.set, d.Action)
	if transport {
		_, resolved = policy.ResolveTransport(r.ledger.set)
	}
	sourced(resolved, r.header.Resolved, transport)
	if r.policies == nil {
		r.policies = map[string]policy.Explanation{}
	}
	if len(r.policies) < maxPolicies {
		r.policies[key] = resolved
	}
	return resolved
}

// maxPolicies bounds the explanations that are held for reuse.
const maxPolicies = 64

func policyTitle(action string, transport bool) string {
	switch {
	case transport:
		return "transport"
	case action == machine.AnswerAction:
		return "answer"
	}
	return "tool " + action
}

// sourced fills in where values were written: a journal's layers do not know, its explanations do.
func sourced(e policy.Explanation, known []journal.Resolved, transport bool) {
	type place struct{ field, layer string }
	where := map[place]string{}
	for _, r := range known {
		for _, row := range r.Explanation {
			if r.Transport == transport && row.Source != "" {
				where[place{row.Field, row.Layer}] = row.Source
			}
		}
	}
	for n := range e {
		if e[n].Source == "" {
			e[n].Source = where[place{e[n].Field, e[n].Layer}]
		}
	}
}
