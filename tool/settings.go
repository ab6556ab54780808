package tool

import (
	"encoding/json"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
)

// Settings is what a policy says of reading calls and answers. The zero value refuses every repair.
type Settings struct {
	// Off lists forms of calls in text, and leniencies, that are not read; see [extract.Forms].
	Off []extract.Form `json:"off,omitempty"`
	// Text is for calls and answers found in text, Native for the arguments of native calls; empty refuses.
	// Text around a call or value, and an alias for a tool's name, are no repairs.
	Text   policy.Repairs `json:"text,omitempty"`
	Native policy.Repairs `json:"native,omitempty"`
	// Identity are the arguments by which calls count as the same; empty means all.
	Identity []string `json:"identity,omitempty"`
	// Approval says which calls need a person's approval; only its bound is for reading: see Exceeds.
	Approval policy.Approval `json:"approval,omitzero"`
	// Tools has the settings of single tools, by registered name, where they differ: Text, Native, Identity
	// and Approval. The others are those of the reply.
	Tools map[string]Settings `json:"tools,omitempty"`
	// MaxCalls bounds the calls of one reply. If a reply makes more, none is read, and reading it takes
	// little memory. Below 1, and above [policy.MostCalls], it is that.
	MaxCalls int `json:"max_calls,omitempty"`
	// Exact takes a native call for that of a tool only under the tool's own name, for a runtime that finds
	// its tools in this way. Otherwise [ProviderName] of it, and a leading "functions.", count too.
	Exact bool `json:"exact,omitempty"`
	// Stop ends the checks of a reply when it reports true; what was read is of no use then. It is called
	// about once a millisecond. Nil never stops. It is no part of the JSON.
	Stop func() bool `json:"-"`
}

func (s Settings) of(tool string) Settings {
	if own, ok := s.Tools[tool]; ok {
		return own
	}
	return s
}

// Exceeds reports whether a call has a value above the bound of its tool's approval: see
// [policy.ApproveAbove]. The arguments must be valid JSON.
func (s Settings) Exceeds(tool string, arguments []byte) bool {
	a := s.of(tool).Approval
	return a.When == policy.ApproveAbove && a.Exceeds(arguments)
}

// IdentityOf returns the arguments by which a call counts as the same as another: those that the settings of
// its tool name, as a JSON object with each number in the one form of its value. It returns nil if that is
// all of them, or if the call has none of those.
// The arguments must be valid JSON.
func (s Settings) IdentityOf(tool string, arguments []byte) []byte {
	names := s.of(tool).Identity
	if len(names) == 0 {
		return nil
	}
	var all map[string]json.RawMessage
	if canon.Unmarshal(arguments, &all) != nil {
		return nil
	}
	own := make(map[string]json.RawMessage, len(names))
	for _, name := range names {
		if value, there := all[name]; there {
			own[name] = value
		}
	}
	if len(own) == 0 {
		return nil
	}
	identity, err := canon.Marshal(own)
	if err != nil {
		return nil
	}
	return canon.Decimals(identity)
}

func allowed(r policy.Repairs) bool { return r == policy.RepairsAccept || r == policy.RepairsNote }

// kept returns the repairs that stay with what was read.
func kept(r policy.Repairs, repairs []extract.Repair) []extract.Repair {
	if r == policy.RepairsAccept {
		return nil
	}
	return repairs
}

// budget returns what the checks of one reply may take.
func (s Settings) budget() *schema.Budget {
	return schema.NewBudget().Until(s.Stop)
}

func (s Settings) options() extract.Options {
	return extract.Options{Off: s.Off, MaxCalls: s.mostCalls()}
}

func (s Settings) mostCalls() int {
	if s.MaxCalls < 1 {
		return policy.MostCalls
	}
	return min(s.MaxCalls, policy.MostCalls)
}
