package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Offer is what a reply is checked against.
type Offer struct {
	// Tools are the tools; nil means none.
	Tools *tool.Set
	// Output is the schema of the structured answer; nil accepts any text.
	Output *schema.Schema
	// CallsOnly reports that only tool calls are accepted.
	CallsOnly bool
	// Estimate returns the tokens of what is added to a prompt: see [machine.State.Added]; nil is
	// [machine.State.EstimateAdded].
	Estimate func(model string, added []message.Message) int64
}

// definitions returns the tools and the schema of the answer as one text, as providers are told them.
func (on Offer) definitions() string {
	var b strings.Builder
	for _, t := range on.Tools.All() {
		b.WriteString(t.Name() + "\n" + t.Description() + "\n")
		b.Write(t.Parameters())
		b.WriteString("\n")
	}
	if on.Output != nil {
		b.Write(on.Output.JSON())
	}
	return b.String()
}

// Size returns the size of the tools and the schema of the answer in a prompt, in bytes.
func (on Offer) Size() int64 { return int64(len(on.definitions())) }

// estimate estimates what a call adds to the prompt.
func (on Offer) estimate(st *machine.State, call *machine.ModelCall) int64 {
	if on.Estimate == nil {
		return st.EstimateAdded()
	}
	added := st.Added()
	if text := on.definitions(); st.Prompt == nil && text != "" {
		added = append([]message.Message{{Role: message.System, Text: text}}, added...)
	}
	model := cmp.Or(st.Config.Models[call.Model].Name, call.Model)
	return max(on.Estimate(model, message.Clone(added)), 0)
}

// CheckChoice reports a choice of a tool that is not offered, or of any where there is none, and calls that
// are the answer where none can be made.
func (on Offer) CheckChoice(c message.ToolChoice) error {
	name, none := c.Tool(), len(on.Tools.All()) == 0
	switch _, known := on.Tools.Get(name); {
	case c.Required() && none:
		return errors.New("tool_choice: there is no tool to call: give Tools, or leave it empty")
	case name != "" && !known:
		return fmt.Errorf("tool_choice: there is no tool %q: name one of Tools (%s), or leave it empty",
			name, strings.Join(on.Tools.Names(), ", "))
	case on.CallsOnly && none:
		return errors.New("calls_only: there is no tool to call: give Tools, or leave it off")
	case on.CallsOnly && c == message.NoTool:
		return errors.New("tool_choice: none: calls are the answer (calls_only): leave it empty")
	}
	return nil
}

// Read reads and checks a model's reply under the settings of a policy (see [Settings]). It is a pure
// function, so an engine may run it anywhere and pass the result to the core as an event.
//
// The reply is held to the choice that it was asked with: a call that this does not allow is not good, and
// the core takes no answer in place of a required call.
//
// Read ignores the contents of a truncated or refused reply. Invalid UTF-8 becomes U+FFFD. A text that has
// only thoughts is not an answer: it becomes part of the reply's Thinking.
func Read(
	r message.Reply, on Offer, choice message.ToolChoice, settings tool.Settings,
) *machine.Reply {
	return new(values).read(r, on, choice, settings)
}

// values are what the checks of a reply made of its calls, nil for those that are not good, and of its
// answer: a process that runs the calls itself need not decode them again. They are no part of events.
type values struct {
	calls  []*tool.Checked
	answer tool.Answer
}

func (v *values) read(
	r message.Reply, on Offer, choice message.ToolChoice, settings tool.Settings,
) *machine.Reply {
	native := len(r.Calls) > 0
	read := &machine.Reply{Message: talk.PrintableReply(r), Native: native, ToolChoice: choice}
	read.Message.Calls = talk.Named(read.Message.Calls)
	if machine.Unusable(read.Message) {
		return read
	}
	if native || on.Tools != nil && choice != message.NoTool { // else a text is an answer
		found := on.Tools.Read(read.Message, settings)
		read.CallsOver = found.Over
		for n := range found.Calls {
			c := &found.Calls[n]
			hold(c, choice)
			read.Calls = append(read.Calls, call(&on, c, settings))
			v.calls = append(v.calls, c.Checked)
		}
	}
	if len(read.Calls) > 0 || read.CallsOver > 0 || on.CallsOnly || choice.Required() {
		return read
	}
	if m := &read.Message; extract.OnlyThoughts(m.Text) {
		m.Thinking, m.Text = strings.TrimPrefix(m.Thinking+"\n"+m.Text, "\n"), ""
		return read
	}
	read.Answer = &machine.Answer{}
	if on.Output != nil {
		a := tool.ReadAnswer(read.Message.Text, on.Output, settings)
		read.Answer = &machine.Answer{Value: a.Raw, Issues: a.Issues, Repairs: a.Repairs}
		v.answer = a
	}
	return read
}

// hold refuses a call that the choice of tools does not allow, as one of a tool that is not offered.
func hold(c *tool.Call, choice message.ToolChoice) {
	expected := "no tool call"
	switch named := choice.Tool(); {
	case choice == message.NoTool:
	case named == "" || named == c.Tool:
		return
	default:
		expected = "a call of " + named
	}
	c.Class, c.Checked = fault.UnknownTool, nil
	c.Issues = []fault.Issue{{Rule: fault.RuleToolChoice, Expected: expected, Source: fault.FromReply}}
}

func call(on *Offer, c *tool.Call, settings tool.Settings) machine.Call {
	name := cmp.Or(c.Tool, c.Name)
	t, _ := on.Tools.Get(c.Tool) // a good call has one
	good, identity := c.Good(), []byte(nil)
	if good {
		identity = settings.IdentityOf(c.Tool, c.Arguments)
	}
	return machine.Call{
		Identity: identity,
		ID:       c.ID, Tool: name, Arguments: c.Arguments, Raw: c.Raw, Class: c.Class, Issues: c.Issues,
		Repairs:       c.Repairs,
		Repeatable:    good && t.Repeatable(),
		Exceeds:       good && settings.Exceeds(c.Tool, c.Arguments),
		NeedsApproval: good && t.NeedsApproval(c.Arguments),
		Answers:       good && t.Answers() && on.Output == nil,
		ReadOnly:      good && t.Declared() == tool.DeclaredReadOnly,
	}
}

// Settings returns the settings of a run's policy for [Read]. A nil set means [policy.DefaultSet].
func Settings(set *policy.Set) tool.Settings {
	if set == nil {
		set = new(policy.DefaultSet())
	}
	return settingsOf(set, func(t policy.Target) *policy.RetryPolicy { return new(set.Policy(t)) })
}

func settingsOf(set *policy.Set, of func(policy.Target) *policy.RetryPolicy) tool.Settings {
	p := of(policy.Target{})
	settings := tool.Settings{Off: p.FormsOff, Text: p.TextRepairs, Native: p.NativeRepairs,
		Identity: p.Identity, Approval: p.Approval,
		MaxCalls: set.MaxCalls, Tools: make(map[string]tool.Settings, len(set.Tools))}
	for _, name := range canon.Keys(set.Tools) {
		own := of(policy.Target{Tool: name})
		settings.Tools[name] = tool.Settings{Text: own.TextRepairs, Native: own.NativeRepairs,
			Identity: own.Identity, Approval: own.Approval}
	}
	return settings
}
