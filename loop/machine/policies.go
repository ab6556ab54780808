package machine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
)

// policies are the merged policies of a set. They are read-only and shared between states.
type policies struct {
	// answer is for the final answer. tool and transport are for all without a layer of their own.
	answer, tool, transport policy.RetryPolicy
	// own are those of tools with a layer of their own, on each plane.
	own map[policy.Target]*policy.RetryPolicy
	// window is the largest window of [policy.Progress].
	window int
}

func policiesOf(set *policy.Set) *policies {
	others := *set
	others.Tools = nil
	p := &policies{
		answer: set.Policy(policy.Target{}), tool: others.Policy(policy.Target{Tool: noTool}),
		transport: set.Policy(policy.Target{Plane: fault.Transport}),
		own:       make(map[policy.Target]*policy.RetryPolicy, len(set.Tools)+len(set.ToolTransport)),
	}
	p.window = max(maxPeriod, p.tool.Progress.For(false).Window)
	for _, name := range canon.Keys(set.Tools) {
		own := set.Policy(policy.Target{Tool: name})
		p.own[policy.Target{Tool: name}] = &own
		p.window = max(p.window, own.Progress.For(false).Window)
	}
	for _, name := range canon.Keys(set.ToolTransport) {
		of := policy.Target{Plane: fault.Transport, Tool: name}
		p.own[of] = new(set.Policy(of))
	}
	return p
}

// noTool stands for any tool without its own layer.
const noTool = "tool"

func (p *policies) of(t policy.Target) *policy.RetryPolicy {
	if t.Plane != fault.Transport {
		t.Plane = ""
	}
	own, ok := p.own[t]
	switch {
	case ok:
		return own
	case t.Plane == fault.Transport:
		return &p.transport
	case t.Tool != "":
		return &p.tool
	}
	return &p.answer
}

// PolicyOf returns what [policy.Set.Policy] returns for the policy of the run, merged once. It is read-only.
func (st *State) PolicyOf(t policy.Target) *policy.RetryPolicy { return st.policies.of(t) }

// policyOf returns the read-only policy of an action.
func (st *State) policyOf(action string) *policy.RetryPolicy {
	return st.PolicyOf(policy.Target{Tool: action})
}

// transportOf returns the policy for failed calls of a tool.
func (st *State) transportOf(tool string) *policy.RetryPolicy {
	return st.PolicyOf(policy.Target{Plane: fault.Transport, Tool: tool})
}
