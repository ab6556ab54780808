package machine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
)

// policies are the merged policies of a set, for each action and for the transport plane. They are read-only
// and shared between states.
type policies struct {
	// answer is for the final answer, tool for tools without their own layer.
	answer, tool, transport policy.RetryPolicy
	own                     map[string]*policy.RetryPolicy
	// toolTransport is for calls of tools with their own transport layer.
	toolTransport map[string]*policy.RetryPolicy
}

// policiesOf returns the policies of a set.
func policiesOf(set *policy.Set) *policies {
	others := *set
	others.Tools = nil
	p := &policies{
		answer: set.Policy(policy.Target{}), tool: others.Policy(policy.Target{Tool: noTool}),
		transport: set.Policy(policy.Target{Plane: fault.Transport}),
		own:       make(map[string]*policy.RetryPolicy, len(set.Tools)),
	}
	for _, name := range canon.Keys(set.Tools) {
		p.own[name] = new(set.Policy(policy.Target{Tool: name}))
	}
	p.toolTransport = make(map[string]*policy.RetryPolicy, len(set.ToolTransport))
	for _, name := range canon.Keys(set.ToolTransport) {
		p.toolTransport[name] = new(set.Policy(policy.Target{Plane: fault.Transport, Tool: name}))
	}
	return p
}

// transportOf returns the policy for failed calls of a tool.
func (p *policies) transportOf(tool string) *policy.RetryPolicy {
	if own, ok := p.toolTransport[tool]; ok {
		return own
	}
	return &p.transport
}

// noTool stands for any tool without its own layer.
const noTool = "tool"

// of returns the policy of an action.
func (p *policies) of(action string) *policy.RetryPolicy {
	if action == AnswerAction {
		return &p.answer
	}
	if own, ok := p.own[action]; ok {
		return own
	}
	return &p.tool
}
