package machine

import (
	"maps"
	"slices"

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

// defaults are the policies of a set with empty layers.
var defaults = makePolicies(&policy.Set{})

// policiesOf returns the policies of a set.
func policiesOf(set *policy.Set) *policies {
	silent := len(set.Tools) == 0 && len(set.ToolTransport) == 0
	for _, l := range [...]*policy.Layer{&set.Global, &set.Answer, &set.Call, &set.Adjusted, &set.Transport} {
		silent = silent && l.IsZero()
	}
	if silent {
		return defaults
	}
	return makePolicies(set)
}

func makePolicies(set *policy.Set) *policies {
	all := set.Tools
	without := *set
	without.Tools = nil
	p := &policies{
		answer: policy.Effective(set, AnswerAction), tool: policy.Effective(&without, noTool),
		transport: policy.EffectiveTransport(set),
	}
	for _, name := range slices.Sorted(maps.Keys(set.ToolTransport)) {
		if p.toolTransport == nil {
			p.toolTransport = make(map[string]*policy.RetryPolicy, len(set.ToolTransport))
		}
		own := policy.EffectiveToolTransport(set, name)
		p.toolTransport[name] = &own
	}
	if len(all) == 0 {
		return p
	}
	p.own = make(map[string]*policy.RetryPolicy, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		own := policy.Effective(set, name)
		p.own[name] = &own
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
