package turns

import (
	"errors"
	"fmt"
	"maps"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
)

// OnExhausted is what follows when a tool has no attempts left. The zero value is [StopRun].
type OnExhausted string

const (
	// StopRun ends the runtime's run with a [loop.RetryExhaustedError].
	StopRun OnExhausted = "stop_run"
	// TellModel continues the run: the model sees that no attempt is left, and may answer without the
	// tool. The budgets of the run still end it, and so does an answer that cannot be used.
	TellModel OnExhausted = "tell_model"
)

// Settings configure the runs of an adapter for a runtime. They are plain data. The zero value is the default
// policy. The settings that a policy has for an attempt go into the runtime's request: the temperature, and
// the model as the name of a model.
type Settings struct {
	// Policy holds layers, budgets and the transport policy; nil means [policy.DefaultSet].
	Policy *policy.Set
	// Models is what is known of the models: of the runtime's own under "", and of those that the policy
	// names. Prices and budgets of money need their names. A budget of tokens bounds the replies of a model
	// only if its MaxOutputTokens is known, because a bound of its own may be lower.
	Models map[string]machine.ModelInfo
	// Seed is the seed of the jitter; empty means the session's id.
	Seed string
	// Output is the schema of a final answer; nil accepts any text.
	Output *schema.Schema
	// Feedback is a template for the words that correct the model; empty means the default words.
	Feedback string
	// Limits bounds the feedback; nil means [feedback.DefaultLimits].
	Limits *feedback.Limits
	// ToolChoice forces a call of a tool, of any or of none, until one has ended: see [loop.Config]. A
	// model call without the tool is not forced, nor is one after [TellModel]. Empty leaves it to the runtime
	// and the model.
	ToolChoice message.ToolChoice
	// Stop are the stop sequences, none of them empty; nil leaves them to the runtime.
	Stop []string
	// ReadOnly and Idempotent are the names of tools whose calls may be repeated after a transport fault:
	// calls of the first change nothing, repeated calls of the others have the effect of one. The type of
	// an error makes it a transport fault. A call of any other tool is only repeated if the tool asks for
	// it ([tool.TryLater]).
	ReadOnly, Idempotent []string
	// OnExhausted is what follows when a tool has no attempts left.
	OnExhausted OnExhausted
}

// Validate returns an error that joins one for each invalid field.
func (s Settings) Validate() error {
	var mode error
	if s.OnExhausted != "" && s.OnExhausted != StopRun && s.OnExhausted != TellModel {
		mode = fmt.Errorf("on_exhausted: %q is none of %q, %q", s.OnExhausted, StopRun, TellModel)
	}
	held := s.loop()
	held.ToolChoice = "" // the runtime has the tools
	return errors.Join(mode, held.Validate())
}

// models returns what is known of the models. A policy that bounds each reply bounds those of all.
func (s Settings) models() map[string]machine.ModelInfo {
	all := map[string]machine.ModelInfo{"": {}}
	maps.Copy(all, s.Models)
	for name, m := range all {
		m.Unbounded = m.Unbounded || m.MaxOutputTokens <= 0 && (s.Policy == nil || s.Policy.Spending.MaxReply == nil)
		all[name] = m
	}
	return all
}

// loop returns the core's config. [Run.Next] gets the tools of each model call.
func (s Settings) loop() loop.Config {
	return loop.Config{
		Policy: s.Policy, Models: s.models(), Seed: s.Seed, Output: s.Output, Feedback: s.Feedback,
		Limits: s.Limits, ToolChoice: s.ToolChoice, Stop: s.Stop,
	}
}
