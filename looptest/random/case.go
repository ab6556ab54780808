package random

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Case is a random run as data: everything that a program gives to an engine, and everything that happens
// outside of it. Make one with [New]. It may be changed, to try something out.
type Case struct {
	// Seed is what the case was made from.
	Seed uint64
	// Prompt begins the run.
	Prompt string
	// Follows are the prompts of further runs in the same session: see [World.Requests].
	Follows []string `json:",omitempty"`
	// Config is the config of the run. [World.Config] also has Tools and Output.
	Config loop.Config
	// Output is the JSON Schema of the answer; empty for any text.
	Output json.RawMessage `json:",omitempty"`
	// Tools are the tools of the run.
	Tools []Tool `json:",omitempty"`
	// Parallel is how many tools of a reply run at once.
	Parallel int
	// Slices are the slices of the session, and Reducers what changes them.
	Slices   []Slice   `json:",omitempty"`
	Reducers []Reducer `json:",omitempty"`
	// Replies are what the models return, in order of the calls. After the last one they answer well.
	Replies []Reply `json:",omitempty"`
	// Models are the names of the further models.
	Models []string `json:",omitempty"`
	// Plans are the answers of the planner; without any there is no planner.
	Plans []Plan `json:",omitempty"`
	// Adjust is a layer over the policy once the session has so many attempts; may be nil.
	Adjust *Adjust `json:",omitempty"`
	// Prompts reports that code makes the prompts.
	Prompts bool `json:",omitempty"`
	// Hangs reports that calls may hang until a time limit ends them.
	Hangs bool `json:",omitempty"`
	// Stream reports that the replies are streamed.
	Stream bool `json:",omitempty"`
	// Redact is what a journal leaves out if it is redacted: see [World.Redact].
	Redact journal.Redaction
	// Action is set if the case is not a run, but the tries of one action. Tries are their outcomes, in
	// order. After the last one they succeed.
	Action *loop.Action `json:",omitempty"`
	Tries  []Outcome    `json:",omitempty"`
}

// String returns the case as JSON, without what is zero.
func (c Case) String() string {
	text, err := json.Marshal(c)
	var v any
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err == nil {
		text, err = json.MarshalIndent(withoutZero(v), "", "  ")
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// withoutZero removes members that are zero; it returns nil for a value that is zero itself.
func withoutZero(v any) any {
	switch is := v.(type) {
	case map[string]any:
		for name, member := range is {
			if is[name] = withoutZero(member); is[name] == nil {
				delete(is, name)
			}
		}
		if len(is) == 0 {
			return nil
		}
	case []any:
		for n := range is {
			is[n] = withoutZero(is[n])
		}
		if len(is) == 0 {
			return nil
		}
	case string, float64, bool:
		if is == "" || is == 0.0 || is == false || is == "0001-01-01T00:00:00Z" {
			return nil
		}
	}
	return v
}

// Tool is a tool. Its arguments are {"do": 1, "note": "…"}: what the call does, and any text.
type Tool struct {
	Name     string
	Declared tool.Declared `json:",omitempty"`
	// Secret marks the note as secret in the schema.
	Secret bool `json:",omitempty"`
	// Policy and Transport are the tool's own layers.
	Policy    policy.Layer
	Transport policy.Layer
	// Plays are what calls do, by their argument "do": the outcomes of its attempts on the transport plane.
	// After the last one the call returns.
	Plays [][]Outcome
}

// OutcomeKind says how a call of a tool, or a try of an action, ends.
type OutcomeKind string

// The kinds, and the fields of [Outcome] that each uses.
const (
	// Return: it succeeds (Result).
	Return OutcomeKind = "return"
	// AskAgain: the tool asks for other arguments, the try was wrong (Text is what was expected).
	AskAgain OutcomeKind = "ask_again"
	// Fail: the tool failed for good (Text).
	Fail OutcomeKind = "fail"
	// TryLater: the tool did nothing and asks for the same call again (Text, After).
	TryLater OutcomeKind = "try_later"
	// Break: another error (Fault).
	Break OutcomeKind = "break"
	// BreakInside: the error of a loop inside the tool, which gave up on wrong arguments of its own (Text).
	BreakInside OutcomeKind = "break_inside"
	// Panic: it panics (Text).
	Panic OutcomeKind = "panic"
	// Unknown: the tool says that nobody knows the outcome.
	Unknown OutcomeKind = "unknown"
	// Hang: it does nothing until its context ends; without a time limit it succeeds.
	Hang OutcomeKind = "hang"
	// Cancel: the run is cancelled during the call or try, which returns the context's error.
	Cancel OutcomeKind = "cancel"
)

// Outcome is what one call of a tool, or one try of an action, does.
type Outcome struct {
	Kind   OutcomeKind
	Result json.RawMessage `json:",omitempty"`
	Text   string          `json:",omitempty"`
	After  time.Duration   `json:",omitempty"`
	Fault  Fault
	// Emits are events for reducers, Progress is what a tool reports, and Attaches that it adds a picture.
	Emits    []session.Event   `json:",omitempty"`
	Progress []json.RawMessage `json:",omitempty"`
	Attaches bool              `json:",omitempty"`
}

// Fault is an error of a model or a tool as data. The zero value is none.
type Fault struct {
	// Class is that of a [fault.ProviderError]; without one the error is a plain one.
	Class      fault.Class   `json:",omitempty"`
	Status     int           `json:",omitempty"`
	RetryAfter time.Duration `json:",omitempty"`
	Final      bool          `json:",omitempty"`
	Text       string        `json:",omitempty"`
}

// Err returns the error, or nil.
func (f Fault) Err() error {
	switch {
	case f == Fault{}:
		return nil
	case f.Class == "":
		return errors.New(f.Text)
	}
	return &fault.ProviderError{Class: f.Class, Provider: "example", StatusCode: f.Status,
		RetryAfter: f.RetryAfter, Final: f.Final, Message: f.Text}
}

// Reply is what a model returns: a reply, or an error.
type Reply struct {
	message.Reply
	Fault Fault
	// Hangs reports that the call does nothing until its context ends, if it has a time limit; otherwise it
	// returns the reply.
	Hangs bool
	// Cancels reports that the run is cancelled during the call, which returns the context's error.
	Cancels bool
}

// Cancels reports whether the run is cancelled at some point, if it comes so far. An engine whose runs do not
// end with the context of [World.Context] does not take these cases.
func (c Case) Cancels() bool {
	cancels := func(o Outcome) bool { return o.Kind == Cancel }
	for _, t := range c.Tools {
		for _, play := range t.Plays {
			if slices.ContainsFunc(play, cancels) {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.Replies, func(r Reply) bool { return r.Cancels }) ||
		slices.ContainsFunc(c.Plans, func(p Plan) bool { return p.Cancels }) ||
		slices.ContainsFunc(c.Tries, cancels)
}

// Slice is a slice of the session.
type Slice struct {
	Name string
	Kind session.Kind
}

// Reducer changes a slice when it hears an event.
type Reducer struct {
	Name, On, Slice string
	// When is a text that the payload must contain for the reducer to do anything.
	When string `json:",omitempty"`
	// Do is what it does with the payload. Instead it returns the error Refuses, or panics with Panics.
	Do      reducer.OpKind
	Refuses string `json:",omitempty"`
	Panics  string `json:",omitempty"`
}

// Plan is an answer of the planner, or its error.
type Plan struct {
	machine.Plan
	Err string `json:",omitempty"`
	// Cancels reports that the run is cancelled while the planner is asked.
	Cancels bool
}

// Adjust is a change of the policy during the run.
type Adjust struct {
	// Attempts is the number of attempts in the session from which on Layer is over the policy.
	Attempts int
	Layer    policy.Layer
}
