package journal

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Prices are the prices of a million tokens, in any currency: finite and not negative. The zero value is
// free.
type Prices struct {
	// Input is for the tokens of prompts, Output for those that the model wrote.
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// CacheRead and CacheWrite are for tokens of prompts that a cache held or was given; nil for Input. Such
	// tokens are counted as input, too, and paid for once.
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// Validate returns all faults, joined.
func (p Prices) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		price float64
	}{{"input", p.Input}, {"output", p.Output}, {"cache_read", or(p.CacheRead, 0)}, {"cache_write", or(p.CacheWrite, 0)}} {
		if math.IsNaN(f.price) || math.IsInf(f.price, 0) || f.price < 0 {
			errs = append(errs, fmt.Errorf("price: %s: %v is no price: give a number of at least 0", f.name, f.price))
		}
	}
	return errors.Join(errs...)
}

func or(p *float64, otherwise float64) float64 {
	if p == nil {
		return otherwise
	}
	return *p
}

// Cost is what usage costs.
func (p Prices) Cost(u message.Usage) float64 {
	plain := max(u.InputTokens-u.CacheReadTokens-u.CacheWriteTokens, 0)
	read, write := or(p.CacheRead, p.Input), or(p.CacheWrite, p.Input)
	total := p.Input*float64(plain) + p.Output*float64(u.OutputTokens) +
		read*float64(u.CacheReadTokens) + write*float64(u.CacheWriteTokens)
	return total / 1e6
}

// Totals are what a run took. In a [Comparison.Change] they may be negative.
type Totals struct {
	// Correction counts all attempts of that plane, Transport the failed ones of the other.
	Correction int `json:"correction_attempts"`
	Transport  int `json:"transport_attempts"`
	// ModelCalls counts calls of the model, or tries of a single action. ToolRuns counts calls of tools.
	ModelCalls int `json:"model_calls"`
	ToolRuns   int `json:"tool_runs"`
	// Waited is the sum of the waits between attempts.
	Waited time.Duration `json:"waited_ns"`
	Usage  message.Usage `json:"usage"`
}

func (t Totals) plus(u Totals) Totals {
	return Totals{
		Correction: t.Correction + u.Correction, Transport: t.Transport + u.Transport,
		ModelCalls: t.ModelCalls + u.ModelCalls, ToolRuns: t.ToolRuns + u.ToolRuns,
		Waited: backoff.Sum(t.Waited, u.Waited), Usage: t.Usage.Add(u.Usage),
	}
}

func (t Totals) minus(u Totals) Totals {
	used := u.Usage
	return t.plus(Totals{
		Correction: -u.Correction, Transport: -u.Transport, ModelCalls: -u.ModelCalls, ToolRuns: -u.ToolRuns,
		Waited: -u.Waited, Usage: message.Usage{
			InputTokens: -used.InputTokens, OutputTokens: -used.OutputTokens, APICalls: -used.APICalls,
			CacheReadTokens: -used.CacheReadTokens, CacheWriteTokens: -used.CacheWriteTokens,
			ReasoningTokens: -used.ReasoningTokens,
		},
	})
}

// add counts one step; asked was under way since askedAt.
func (t *Totals) add(ev *Event, effects []machine.Effect, asked machine.Effect, askedAt time.Time) {
	switch {
	case ev.Kind == machine.Replied:
		t.ModelCalls++
		t.Usage = t.Usage.Add(ev.Reply.Message.Usage)
	case ev.Kind == machine.CallFailed:
		t.ModelCalls++
	case ev.Kind == machine.Tried:
		t.ModelCalls++
		t.Usage = t.Usage.Add(ev.Try.Usage)
	case ev.Kind == machine.ToolEnded:
		t.ToolRuns++
	case (ev.Kind == machine.Woke || ev.Kind == machine.Cancelled) && asked.Wait != nil:
		end := ev.At
		if asked.Wait.Until.Before(end) {
			end = asked.Wait.Until
		}
		t.Waited = backoff.Sum(t.Waited, max(end.Sub(askedAt), 0))
	}
	for _, e := range effects {
		switch {
		case e.Decision == nil:
		case e.Decision.Plane == fault.Transport:
			t.Transport++
		default:
			t.Correction++
		}
	}
}

// shape is a digest of the form of a conversation: who spoke, and which calls were answered, but not in which
// words.
type shape uint64

// add is the shape with more messages.
func (s shape) add(said []message.Message) shape {
	for _, m := range said {
		for _, part := range []string{string(m.Role), m.CallID, m.Name, fmt.Sprint(m.IsError, len(m.Calls))} {
			for _, c := range []byte(part + "\x00") {
				s = (s ^ shape(c)) * 1099511628211
			}
		}
	}
	return s
}

// decisionsOf are the decisions among effects as sentences, and in a form that can be compared.
func decisionsOf(effects []machine.Effect) (sentences []string, same string) {
	var b strings.Builder
	for _, e := range effects {
		if d := e.Decision; d != nil {
			sentences = append(sentences, verdictOf(d))
			fmt.Fprintf(&b, "%q %d %s %s %v %d %s\n", d.Action, d.Attempt, d.Plane, d.Class, d.Retry, d.Delay, d.Reason)
		}
	}
	return sentences, b.String()
}

// verdictOf is a decision as one sentence, with its delay and reason.
func verdictOf(d *machine.Decision) string {
	if d.Class == "" {
		return d.String()
	}
	return d.On(d.Plane) + ": " + policy.Decision{Retry: d.Retry, Delay: d.Delay, Reason: d.Reason, Detail: d.Detail}.String()
}
