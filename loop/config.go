package loop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/prompt"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Config is what all runs of a [Loop] or a [Pool] share; [Input] is what one run is given. The zero value is
// a run without tools, under the default policy, whose answer is any text. A run does not change it, so it
// may be shared.
type Config struct {
	// Tools are the tools that the model may call; nil means none.
	Tools *tool.Set
	// Output is the schema of a structured answer; nil accepts any text. [Generate] sets it.
	Output *schema.Schema
	// CallsOnly makes tool calls the answer, for callers that run them themselves. A reply without a call is
	// a failed attempt. The calls of a reply are accepted all or none. The first reply with only valid calls
	// ends the run; they are in [Result].Calls. Before the next run of the conversation, hand over their
	// results: see [session.ErrUnanswered].
	CallsOnly bool
	// ToolChoice makes the model call a tool, any tool ([message.AnyTool]) or no tool ([message.NoTool]);
	// empty leaves the choice to the model. Calls are required until one has ended, even if it failed, and
	// with CallsOnly always. It needs tools, and a provider that supports it. A call that it does not allow
	// is not run, and an answer in place of a required call is not taken: both are failed attempts.
	ToolChoice message.ToolChoice
	// Stop are the stop sequences of the model. The reply ends before them. UTF-8; none may be empty.
	Stop []string
	// Policy has the layers, the budgets and the transport policy; nil means [policy.DefaultSet]. Policies of
	// tools ([tool.WithPolicy]) are merged over its global layer and under its layers for these tools. A
	// layer for an unknown tool is an error if its name is similar to that of a tool, else a warning in the
	// result.
	Policy *policy.Set
	// Seed is the seed of the jitter. With the action and the attempt it decides all waits, whatever the
	// session. Empty means the session's id, and a session's own seed ([session.Config].Seed)
	// goes first. Sessions that share a seed wait in lockstep, of which a [Loop] and a [Pool] warn. For waits
	// without jitter, set "jitter: none" in the policy.
	Seed string
	// System is the system prompt: a text, or a template that is rendered for each model call and can show
	// feedback and slices. A template is a text with "{{": a text/template with functions
	// that docs/prompts.md lists.
	System string
	// Feedback is a text or template for the feedback to the model; empty means the default text.
	Feedback string
	// Vars are values for System and Feedback, which read them as {{.Vars.name}}. A template sees the JSON
	// form of a value, so that a run that is resumed shows the same: a struct has the names of its JSON
	// members. They are in the journal's header, and a resumed run keeps them. It is an error if a value has
	// no JSON form, or if a template always reads one that is not set.
	Vars map[string]any
	// Limits bounds the feedback to the model; nil means [feedback.DefaultLimits].
	Limits *feedback.Limits
	// Models is what is known of the models of a run by their names in it, with that of [New] under "". A
	// model that is not here is asked, if it is a [Describer]. Prices and budgets of tokens and money need
	// it.
	Models map[string]machine.ModelInfo
	// Estimate returns the tokens of messages that are added to a prompt; nil is [machine.EstimateTokens]. It
	// is called before a call whose policy bounds spending, with what is new since the last prompt whose size
	// is known. For the first prompt that is all: a message of role system with the system prompt, one with
	// the tools and the schema of the answer as JSON, and the conversation. Its result is recorded, and a
	// replay does not call it. Below 0 counts as 0.
	Estimate func(model string, added []message.Message) int64
	// Consult are the classes of failed model calls and tries at which the planner ([WithPlanner]) is asked
	// before the policy. At exhaustion it is always asked. Classes without a planner are an error.
	Consult []fault.Class
	// MaxDepth is how many runs may be nested within a run, each in a call of the one around it: see
	// [Loop.Within]. It is 1 or more; 0 means [DefaultDepth]. A nested run may have a lower bound of its own.
	MaxDepth int
}

// DefaultDepth is how many runs may be nested without [Config].MaxDepth.
const DefaultDepth = 4

// Input is what one run is given: Prompt, Attach, History, NewConversation, RequestID and Deadline, which
// [engine.Input] explains.
type Input = engine.Input

// machine returns the config of the core for a run.
func (c Config) machine(o *options) machine.Config {
	m := machine.Config{
		Seed: c.Seed, Policy: policy.DefaultSet(),
		System: canon.UTF8(c.System), Feedback: canon.UTF8(c.Feedback),
		Limits: feedback.DefaultLimits(), CallsOnly: c.CallsOnly, ToolChoice: c.ToolChoice, Stop: c.Stop,
		UserPrompt: o.prompt != nil, Planner: o.planner != nil, Summaries: o.summary != nil,
		Consult: c.Consult, Limited: o.limiter != nil, Behaviours: machine.Behaviours(),
	}
	if m.Limited {
		m.Offered = c.offer().Size()
	}
	if c.Policy != nil {
		m.Policy = *c.Policy.Clone()
	}
	if m.Policy.Meters() {
		m.Models, m.Estimates, m.Offered = c.described(o), true, c.offer().Size()
	}
	m.Policy = c.Tools.Policy(m.Policy)
	m.Vars, _ = c.vars()
	if c.Limits != nil {
		m.Limits = *c.Limits
	}
	return m
}

// infoOf returns what a model says of itself; false if it says nothing.
func infoOf(m Model) (machine.ModelInfo, bool) {
	d, ok := m.(Describer)
	if !ok {
		return machine.ModelInfo{}, false
	}
	return d.Describe(), true
}

// modelNamed returns a model, of which the first has no name; nil if there is none.
func (o *options) modelNamed(name string) Model {
	if name == "" {
		return o.model
	}
	return orNil(o.models[name])
}

// orNil returns a model, or nil for a nil pointer or function: it would panic at the first call.
func orNil(m Model) Model {
	if p := reflect.ValueOf(m); (p.Kind() == reflect.Pointer || p.Kind() == reflect.Func) && p.IsNil() {
		return nil
	}
	return m
}

// info returns what is known of a model of the run.
func (p *process) info(name string) machine.ModelInfo {
	if said, ok := p.cfg.Models[name]; ok {
		return said
	}
	info, _ := infoOf(p.modelNamed(name))
	return info
}

// described returns what is known of the models: what they say, unless the config says it.
func (c *Config) described(o *options) map[string]machine.ModelInfo {
	known := map[string]machine.ModelInfo{}
	for _, name := range append(o.modelNames(), "") {
		if info, ok := infoOf(o.modelNamed(name)); ok {
			known[name] = info
		}
	}
	maps.Copy(known, c.Models)
	return known
}

// offer returns what replies are checked against.
func (c *Config) offer() engine.Offer {
	return engine.Offer{Tools: c.Tools, Output: c.Output, CallsOnly: c.CallsOnly, Estimate: c.Estimate}
}

// compile returns the compiled config of the core for a run.
func (c *Config) compile(o *options) (*machine.Compiled, error) {
	m := c.machine(o)
	_, absent := c.Tools.Absent(&m.Policy)
	compiled, err := machine.Compile(&m)
	errs := []error{absent, err}
	for n, stop := range c.Stop {
		switch {
		case stop == "":
			errs = append(errs, fmt.Errorf("stop[%d]: is empty: remove it", n))
		case !utf8.ValidString(stop):
			errs = append(errs, fmt.Errorf("stop[%d]: %.64q: give UTF-8", n, stop))
		}
	}
	if c.Output != nil && c.Output.JSON() == nil {
		errs = append(errs, errors.New("output: has no schema: make one with schema.For or schema.Compile"))
	}
	errs = append(errs, c.checkVars(), c.checkConsult())
	if c.MaxDepth < 0 {
		errs = append(errs, fmt.Errorf("max_depth: %d: give 1 or more, or 0 for %d", c.MaxDepth, DefaultDepth))
	}
	return compiled, errors.Join(errs...)
}

// checkConsult reports classes that a policy would take for misspelt: no failure has them. Which planes they
// may be of, the core checks.
func (c *Config) checkConsult() error {
	var errs []error
	for n, class := range c.Consult {
		err := policy.Layer{RetryableErrors: []fault.Class{class}}.Validate()
		if wrong, found := errors.AsType[*policy.FieldError](err); found && class != "" {
			errs = append(errs, fmt.Errorf("consult[%d]: %s", n, wrong.Problem))
		}
	}
	return errors.Join(errs...)
}

// checkChoice reports what is wrong with ToolChoice. Engines that run the tools themselves do not call it,
// because they may know the tools only later.
func (c *Config) checkChoice() error { return c.offer().CheckChoice(c.ToolChoice) }

// Validate reports everything that is wrong with the config, each fault with its field.
func (c Config) Validate() error {
	_, err := c.compile(&options{})
	return errors.Join(err, c.checkChoice())
}

// ready is compile for runs with the options. The error includes missing options.
func (c *Config) ready(o *options) (*machine.Compiled, error) {
	m, err := c.compile(o)
	if len(c.Consult) > 0 && o.planner == nil {
		err = errors.Join(err, errors.New("consult: there is no planner: set one with WithPlanner, or leave it empty"))
	}
	return m, err
}

// asking is ready for drivers that call the models. The error includes missing models.
func (c *Config) asking(o *options) (*machine.Compiled, error) {
	m, err := c.ready(o)
	err = errors.Join(err, c.checkChoice())
	if m != nil {
		err = errors.Join(err, o.lacks(&m.Config().Policy), o.checkLadder(), o.unpriced(m.Config()))
	}
	return m, err
}

// unpriced reports the models without a price, if the policy bounds money.
func (o *options) unpriced(cfg *machine.Config) error {
	if !cfg.Policy.Spending.Costs() {
		return nil
	}
	var errs []error
	for _, model := range append([]string{""}, o.modelNames()...) {
		name := cmp.Or(cfg.Models[model].Name, model)
		switch _, known := cfg.Policy.Prices.Of(name); {
		case known:
		case name == "":
			errs = append(errs, errors.New("policy: spending: the model has no name to price it by: give it one in "+
				"Config.Models[\"\"]"))
		default:
			errs = append(errs, fmt.Errorf("policy: spending: the model %q has no price: add it to prices, or bound no cost", name))
		}
	}
	return errors.Join(errs...)
}

// lacks reports the models that a policy names and the options do not have.
func (o *options) lacks(p *policy.Set) error {
	joined, ok := p.CheckModels(o.modelNames()).(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var errs []error
	for _, err := range joined.Unwrap() {
		errs = append(errs, fmt.Errorf("policy: %w: WithModels gives the models of a run", err))
	}
	return errors.Join(errs...)
}

// checkLadder reports what is wrong with the planner if it is a ladder, with the models that the options do
// not have. The names of another planner are known only when a failure asks it.
func (o *options) checkLadder() error {
	ladder, ok := o.planner.(planner.Ladder)
	if !ok {
		return nil
	}
	err, known := ladder.Validate(), o.modelNames()
	for n, name := range ladder.Models {
		if name != "" && !slices.Contains(known, name) {
			err = errors.Join(err, fmt.Errorf("models[%d]: %q is not one of the run's models %q: WithModels gives them", n, name, known))
		}
	}
	if err != nil {
		return fmt.Errorf("planner: %w", err)
	}
	return nil
}

// modelNames returns the names of the models of WithModels, sorted.
func (o *options) modelNames() (known []string) {
	for _, name := range canon.Keys(o.models) {
		if orNil(o.models[name]) != nil {
			known = append(known, name)
		}
	}
	return known
}

// Machine returns the config of the core for runs with c and the options, for an [engine.Runner], without
// what belongs to one run: see [engine.RunnerConfig].Input. The error
// joins everything that is wrong with them. ToolChoice is not checked against Tools, because an engine that
// runs the tools itself may know them only later: see [engine.Offer.CheckChoice].
func (c Config) Machine(opts ...Option) (machine.Config, error) {
	o, err := collect(opts)
	_, refused := c.ready(o)
	return c.machine(o), errors.Join(err, refused)
}

// vars returns the JSON forms of Vars. The error joins those of all values that have none.
func (c *Config) vars() (map[string]json.RawMessage, error) {
	if len(c.Vars) == 0 {
		return nil, nil
	}
	var errs []error
	all := make(map[string]json.RawMessage, len(c.Vars))
	for _, name := range canon.Keys(c.Vars) {
		v := c.Vars[name]
		if text, ok := v.(string); ok {
			v = canon.UTF8(text)
		}
		raw, err := canon.Marshal(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("vars.%s: has no JSON form: %w", name, err))
			continue
		}
		all[canon.UTF8(name)] = raw
	}
	return all, errors.Join(errs...)
}

// checkVars reports values without a JSON form, and those that a template always reads and Vars does not
// have.
func (c *Config) checkVars() error {
	_, err := c.vars()
	errs := []error{err}
	for _, t := range []struct{ path, text string }{{"system", c.System}, {"feedback", c.Feedback}} {
		if !strings.Contains(t.text, ".Vars") {
			continue
		}
		parsed, err := prompt.Parse(t.text, nil)
		if err != nil {
			continue // the core reports it
		}
		if err := parsed.Check(c.Vars); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.path, err))
		}
	}
	return errors.Join(errs...)
}
