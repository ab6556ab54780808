package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/prompt"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Config configures a run. It is plain data and kept in the journal's header. The zero value is invalid.
type Config struct {
	// RequestID identifies the request of the run in the idempotency keys of its calls: two runs of a session
	// with one id have the same keys. If it is empty, the number of messages when the run begins and the
	// last eight of them identify the request. At most 256 bytes of printable text.
	RequestID string `json:"request_id,omitempty" redact:"keep"`
	// Seed is the seed of the jitter: with the action and the attempt it decides all waits. Empty means the
	// session's id. Valid UTF-8.
	Seed string `json:"seed,omitempty" redact:"keep"`
	// Policy has the layers, the budgets and the transport policy.
	Policy policy.Set `json:"policy" redact:"keep"`
	// Deadline is the end of the run's time; no wait may outlast it. Zero means none.
	Deadline time.Time `json:"deadline,omitzero"`
	// Single makes the run the tries of one action, without a model or tools. Action is its name; empty for a
	// final answer.
	Single bool   `json:"single,omitempty"`
	Action string `json:"action,omitempty" redact:"keep"`
	// ActionID identifies that action in its session's journal, which keeps its end; empty for none. It is an
	// error unless Single is set. At most 256 bytes of printable text. A redacted journal keeps it,
	// so it must not be secret.
	ActionID string `json:"action_id,omitempty" redact:"keep"`
	// System is the system prompt. It is a template of package prompt, rendered for each model call.
	System string `json:"system,omitempty" redact:"prompt"`
	// Feedback is the template of the feedback for the model; empty means the default text.
	Feedback string `json:"feedback,omitempty" redact:"prompt"`
	// Vars are the values of .Vars in both templates, each as JSON.
	Vars map[string]json.RawMessage `json:"vars,omitempty" redact:"prompt"`
	// Limits bounds the feedback for the model.
	Limits feedback.Limits `json:"limits"`
	// CallsOnly makes tool calls the answer. A reply without a call is a failed attempt of class no_output.
	// The first reply with only valid calls ends the run; the caller runs the calls.
	CallsOnly bool `json:"calls_only,omitempty"`
	// ToolChoice says which tool the model must call. Stop are the stop sequences of its replies.
	ToolChoice message.ToolChoice `json:"tool_choice,omitempty" redact:"keep"`
	Stop       []string           `json:"stop,omitempty" redact:"prompt"`
	// UserPrompt reports that the user's code makes the prompt of each model call.
	UserPrompt bool `json:"user_prompt,omitempty"`
	// Summaries reports that there is somebody to ask for summaries. Otherwise window takes the place of a
	// policy's step summarise.
	Summaries bool `json:"summaries,omitempty"`
	// Planner reports that a planner is asked after exhaustion. Otherwise the run ends.
	Planner bool `json:"planner,omitempty"`
	// Consult are the classes of failed model calls and tries at which the planner is asked before the
	// policy. It has no effect without a planner.
	Consult []fault.Class `json:"consult,omitempty"`
	// Models is what is known of the models by their names in the run, with the first under "". Only runs
	// that count what their calls cost have it: see [policy.Set.Meters].
	Models map[string]ModelInfo `json:"models,omitempty" redact:"keep"`
	// Limited reports that a limiter is asked for a grant before each model call and each try.
	Limited bool `json:"limited,omitempty"`
	// Estimates makes estimates of what a call adds to the prompt events, so that a replay without the texts
	// decides the same. Offered is the size in bytes of the tools and of the answer's schema in the prompt.
	Estimates bool  `json:"estimates,omitempty"`
	Offered   int64 `json:"offered,omitempty"`
	// Behaviours are the behaviours that the run began with; new runs have [Behaviours].
	Behaviours []Behaviour `json:"behaviours,omitempty"`
}

// compiled is the compiled templates and policies of a Config. Immutable.
type compiled struct {
	system, feedback *prompt.Template
	policies         *policies
	// unseen leaves system prompts out of calls.
	unseen bool
}

// Compiled is a valid [Config] with everything derived from it, for runs that share a config. Make it with
// [Compile]; the zero value is not usable. It is read-only and safe for concurrent use.
type Compiled struct {
	cfg      *Config
	compiled *compiled
}

// Compile validates a config and compiles it. The error joins everything that is wrong with cfg, each with
// its path. Compile keeps cfg, which is read-only afterwards.
func Compile(cfg *Config) (*Compiled, error) {
	w := &compiled{}
	if err := errors.Join(
		chain.At("system", template(&w.system, cfg.System, cfg.Vars)),
		chain.At("feedback", template(&w.feedback, cfg.Feedback, cfg.Vars)),
		chain.At("policy", cfg.Policy.Validate()),
		chain.At("limits", cfg.Limits.Validate()), checkConsult(cfg.Consult),
		canon.CheckID("request_id", cfg.RequestID), cfg.checkActionID(), checkSeed(cfg.Seed),
		checkBehaviours(cfg.Behaviours)); err != nil {
		return nil, err
	}
	w.policies = policiesOf(&cfg.Policy)
	return &Compiled{cfg, w}, nil
}

// Config returns the config, which is read-only.
func (c *Compiled) Config() *Config { return c.cfg }

// For returns a copy with the request id, deadline and seed of one run. It does not check them.
func (c *Compiled) For(requestID string, deadline time.Time, seed string) *Compiled {
	if requestID == c.cfg.RequestID && deadline == c.cfg.Deadline && seed == c.cfg.Seed {
		return c
	}
	own := *c.cfg
	own.RequestID, own.Deadline, own.Seed = requestID, deadline, seed
	return &Compiled{&own, c.compiled}
}

// Unseen returns a copy for replays that show no prompts: model calls have no system prompt, unless its size
// decides something.
func (c *Compiled) Unseen() *Compiled {
	w := *c.compiled
	w.unseen = true
	return &Compiled{c.cfg, &w}
}

func (c *Config) checkActionID() error {
	if c.ActionID != "" && !c.Single {
		return errors.New("action_id: allowed only with single: leave it out, or set single")
	}
	return canon.CheckID("action_id", c.ActionID)
}

// checkConsult reports invalid classes of Config.Consult.
func checkConsult(classes []fault.Class) error {
	var errs []error
	for n, c := range classes {
		if c == "" || c.Plane() == fault.Correction {
			errs = append(errs, fmt.Errorf("consult[%d]: %q is not a class of the transport plane; on the "+
				"correction plane a planner is asked only at exhaustion", n, string(c)))
		}
	}
	return errors.Join(errs...)
}

// checkSeed returns an error for a seed that a journal cannot hold.
func checkSeed(seed string) error {
	if !utf8.ValidString(seed) {
		return fmt.Errorf("seed: %.64q: give UTF-8", seed)
	}
	return nil
}

// New returns an idle state for a session.
func (c *Compiled) New(s session.State) State {
	// Every action leaves an attempt, so the numbers of later runs in the session are new.
	return State{
		Config: c.cfg, Phase: Idle, Session: s, Opened: s.AttemptCount(),
		Policy: &c.cfg.Policy, compiled: c.compiled, policies: c.compiled.policies,
	}
}

// New returns an idle state for a session under cfg. The error joins everything that is wrong with cfg, each
// with its path.
func New(cfg Config, s session.State) (State, error) {
	c, err := Compile(&cfg)
	if err != nil {
		return State{}, err
	}
	return c.New(s), nil
}

func template(to **prompt.Template, text string, vars map[string]json.RawMessage) (err error) {
	if text != "" {
		*to, err = prompt.Parse(text, vars)
	}
	return err
}

// Behaviour names a change in what the core decides. A run keeps the behaviours it began with, so that older
// journals and histories still replay: without a behaviour in its config, the core decides as before the
// change.
type Behaviour string

// Behaviours returns all behaviours of this version, oldest first. New runs begin with all of them. There are
// none yet. A behaviour is never renamed or removed. The caller owns the slice.
func Behaviours() []Behaviour { return nil }

// checkBehaviours reports the behaviours that this version does not have.
func checkBehaviours(all []Behaviour) error {
	var errs []error
	for n, b := range all {
		if !slices.Contains(Behaviours(), b) {
			errs = append(errs, fmt.Errorf("behaviours[%d]: %q is unknown: the run was begun by a newer version",
				n, string(b)))
		}
	}
	return errors.Join(errs...)
}

// ModelInfo is what is known of a model of a run. The zero value is a model without a name that keeps a
// request's bound on replies.
type ModelInfo struct {
	// Name is the provider's name of the model, by which [github.com/retake-go/retake/policy.Prices] know it.
	Name string `json:"name,omitempty" redact:"keep"`
	// Provider is the name of the provider, or the host of a server that has none, for the scopes of a
	// limiter. It is not recorded here; grants record their scopes.
	Provider string `json:"-"`
	// MaxOutputTokens is the most tokens that a reply has, with its reasoning, whatever a request asks; 0 or
	// less means unknown.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`
	// Unbounded reports that the model cannot bound its replies as a request asks: one reply may pass a
	// budget.
	Unbounded bool `json:"unbounded,omitempty"`
}
