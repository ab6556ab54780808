package random

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

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
	// Input begins the first run.
	Input loop.Input
	// Follows are the prompts of further runs in the same session: see [World.Inputs].
	Follows []string
	// Config is the config of the runs. [World.Config] also has Tools and Output.
	Config loop.Config
	// Output is the JSON Schema of the answer; empty for any text.
	Output json.RawMessage
	// Tools are the tools of the run.
	Tools []Tool
	// Parallel is how many tools of a reply run at once.
	Parallel int
	// Slices are the slices of the session, and Reducers what changes them.
	Slices   []Slice
	Reducers []Reducer
	// Replies are what the models return, in order of the calls. After the last one they answer well.
	Replies []Reply
	// Models are the names of the further models.
	Models []string
	// Plans are the answers of the planner; without any there is no planner.
	Plans []Plan
	// Adjust is a layer over the policy once the session has so many attempts; may be nil.
	Adjust *Adjust
	// Prompts reports that code makes the prompts.
	Prompts bool
	// Hangs reports that calls may hang until a time limit ends them.
	Hangs bool
	// Stream reports that the replies are streamed.
	Stream bool
	// Redact is what a journal leaves out if it is redacted: see [World.Redact].
	Redact journal.Redaction
	// Action is set if the case is not a run, but the tries of one action. Tries are their outcomes, in
	// order. After the last one they succeed.
	Action *loop.Action
	Tries  []Outcome
}

// String returns the case as JSON, without what is zero.
func (c Case) String() string {
	text, err := jsonv2.Marshal(c, jsonv1.DefaultOptionsV1(), jsonv2.OmitZeroStructFields(true), jsontext.WithIndent("  "))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Tool is a tool. Its arguments are {"do": 1, "note": "…"}: what the call does, and any text.
type Tool struct {
	Name     string
	Declared tool.Declared
	// Secret marks the note as secret in the schema.
	Secret bool
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
	Result json.RawMessage
	Text   string
	After  time.Duration
	Fault  Fault
	// Emits are events for reducers, Progress is what a tool reports, and Attaches that it adds a picture.
	Emits    []session.Event
	Progress []json.RawMessage
	Attaches bool
}

// Fault is an error of a model or a tool as data. The zero value is none.
type Fault struct {
	// Class is that of a [fault.ProviderError]; without one the error is a plain one.
	Class      fault.Class
	Status     int
	RetryAfter time.Duration
	Final      bool
	Text       string
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
	When string
	// Do is what it does with the payload. Instead it returns the error Refuses, or panics with Panics.
	Do      reducer.OpKind
	Refuses string
	Panics  string
}

// Plan is an answer of the planner, or its error.
type Plan struct {
	machine.Plan
	Err string
	// Cancels reports that the run is cancelled while the planner is asked.
	Cancels bool
}

// Adjust is a change of the policy during the run.
type Adjust struct {
	// Attempts is the number of attempts in the session from which on Layer is over the policy.
	Attempts int
	Layer    policy.Layer
}
