package temporal

import (
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// reading is [tool.Settings] on the wire.
type reading struct {
	Off      []extract.Form      `json:"off,omitempty"`
	Text     policy.Repairs      `json:"text,omitempty"`
	Native   policy.Repairs      `json:"native,omitempty"`
	Identity []string            `json:"identity,omitempty"`
	Approval policy.Approval     `json:"approval,omitzero"`
	Tools    map[string]leniency `json:"tools,omitempty"`
	MaxCalls int                 `json:"max_calls,omitempty"`
}

// leniency is [tool.Leniency] on the wire.
type leniency struct {
	Text     policy.Repairs  `json:"text,omitempty"`
	Native   policy.Repairs  `json:"native,omitempty"`
	Identity []string        `json:"identity,omitempty"`
	Approval policy.Approval `json:"approval,omitzero"`
}

func readingOf(s tool.Settings) reading {
	r := reading{Off: s.Off, Text: s.Text, Native: s.Native, Identity: s.Identity, Approval: s.Approval, MaxCalls: s.MaxCalls}
	for _, name := range workflow.DeterministicKeys(s.Tools) {
		if r.Tools == nil {
			r.Tools = map[string]leniency{}
		}
		r.Tools[name] = leniency(s.Tools[name])
	}
	return r
}

// settings converts back.
func (r reading) settings() tool.Settings {
	s := tool.Settings{Off: r.Off, Text: r.Text, Native: r.Native, Identity: r.Identity, Approval: r.Approval, MaxCalls: r.MaxCalls}
	for _, name := range workflow.DeterministicKeys(r.Tools) {
		if s.Tools == nil {
			s.Tools = map[string]tool.Leniency{}
		}
		s.Tools[name] = tool.Leniency(r.Tools[name])
	}
	return s
}
