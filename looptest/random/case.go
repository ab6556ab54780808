package random

import (
	"encoding/json"
	"errors"
	"iter"
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
	Tools []toolCase
	// Delegates are tools that are agents.
	Delegates []delegateCase
	// Parallel is how many tools of a reply run at once.
	Parallel int
	// Slices are the slices of the session, and Reducers what changes them.
	Slices   []sliceCase
	Reducers []reducerCase
	// Replies are what the models return, in order of the calls. After the last one they answer well.
	Replies []replyCase
	// Models are the names of the further models.
	Models []string
	// Plans are the answers of the planner; without any there is no planner.
	Plans []planCase
	// Adjust is a layer over the policy once the session has so many attempts; may be nil.
	Adjust *adjustCase
	// Prompts reports that code makes the prompts.
	Prompts bool
	// Summaries reports that the user's function sums up what prompts leave out.
	Summaries bool
	// Hangs reports that calls may hang until a time limit ends them.
	Hangs bool
	// Stream reports that the replies are streamed.
	Stream bool
	// Answers are what people do with the questions that the run asks them, by the place of the question;
	// without any, no person is asked. Says are what the user says while the run works.
	Answers []answerCase
	Says    []sayCase
	// Redact is what a journal leaves out if it is redacted: see [World.Redact].
	Redact journal.Redaction
	// Action is set if the case is not a run, but the tries of one action. Tries are their outcomes, in
	// order. After the last one they succeed.
	Action *loop.Action
	Tries  []outcome
}

// String returns the case as JSON, without what is zero.
func (c Case) String() string {
	text, err := jsonv2.Marshal(c, jsonv1.DefaultOptionsV1(), jsonv2.OmitZeroStructFields(true), jsontext.WithIndent("  "))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// toolCase is a tool. Its arguments are {"do": 1, "note": "…"}: what the call does, and any text.
type toolCase struct {
	Name     string
	Declared tool.Declared
	// Secret marks the note as secret in the schema.
	Secret bool
	// Policy and Transport are the tool's own layers.
	Policy    policy.Layer
	Transport policy.Layer
	// Plays are what calls do, by their argument "do": the outcomes of its attempts on the transport plane.
	// After the last one the call returns.
	Plays [][]outcome
}

// outcomeKind says how a call of a tool, or a try of an action, ends.
type outcomeKind string

// The kinds, and the fields of an outcome that each uses.
const (
	// returns: it succeeds (Result).
	returns outcomeKind = "return"
	// asksAgain: the tool asks for other arguments, the try was wrong (Text is what was expected).
	asksAgain outcomeKind = "ask_again"
	// fails: the tool failed for good (Text).
	fails outcomeKind = "fail"
	// triesLater: the tool did nothing and asks for the same call again (Text, After).
	triesLater outcomeKind = "try_later"
	// breaks: another error (Fault).
	breaks outcomeKind = "break"
	// breaksInside: the error of a loop inside the tool, which gave up on wrong arguments of its own (Text).
	breaksInside outcomeKind = "break_inside"
	// panics: it panics (Text).
	panics outcomeKind = "panic"
	// unknown: the tool says that nobody knows the outcome.
	unknown outcomeKind = "unknown"
	// hangs: it does nothing until its context ends; without a time limit it succeeds.
	hangs outcomeKind = "hang"
	// cancels: the run is cancelled during the call or try, which returns the context's error.
	cancels outcomeKind = "cancel"
)

// outcome is what one call of a tool, or one try of an action, does.
type outcome struct {
	Kind   outcomeKind
	Result json.RawMessage
	Text   string
	After  time.Duration
	Fault  failure
	// Emits are events for reducers, Progress is what a tool reports, and Attaches that it adds a picture.
	Emits    []session.Event
	Progress []json.RawMessage
	Attaches bool
	// Agent is what runs within the call before it returns, and whose answer it returns; may be nil.
	Agent *agentCase
}

// failure is an error of a model or a tool as data. The zero value is none.
type failure struct {
	// Class is that of a [fault.ProviderError]; without one the error is a plain one.
	Class      fault.Class
	Status     int
	RetryAfter time.Duration
	MaxReply   int64
	Final      bool
	Text       string
}

// Err returns the error, or nil.
func (f failure) Err() error {
	switch {
	case f == failure{}:
		return nil
	case f.Class == "":
		return errors.New(f.Text)
	}
	return &fault.ProviderError{Class: f.Class, Provider: "example", StatusCode: f.Status,
		RetryAfter: f.RetryAfter, MaxReply: f.MaxReply, Final: f.Final, Message: f.Text}
}

// replyCase is what a model returns: a reply, or an error.
type replyCase struct {
	message.Reply
	Fault failure
	// Hangs reports that the call does nothing until its context ends, if it has a time limit; otherwise it
	// returns the reply.
	Hangs bool
	// Cancels reports that the run is cancelled during the call, which returns the context's error.
	Cancels bool
}

// tool returns the tool of a name; nil if there is none.
func (c *Case) tool(name string) *toolCase {
	for n := range c.Tools {
		if c.Tools[n].Name == name {
			return &c.Tools[n]
		}
	}
	return nil
}

// People reports whether people are asked in the run, or speak to it.
func (c Case) People() bool { return len(c.Answers)+len(c.Says) > 0 }

// AnswersAtOnce reports whether people may answer a question as soon as it is asked. What is said with such
// an answer may come in another order in an engine that takes both as messages.
func (c Case) AnswersAtOnce() bool {
	layers := []policy.Layer{c.Config.Policy.Global}
	for _, t := range c.Tools {
		layers = append(layers, t.Policy)
	}
	timed := !c.Input.Deadline.IsZero()
	for _, l := range layers {
		if a := l.Approval; a != nil && a.Timeout == policy.Unlimited {
			return true
		}
		timed = timed || l.Polling != nil
	}
	for _, a := range c.Answers {
		if a.Way == atOnce || a.Way == byInbox && timed {
			return true
		}
	}
	return false
}

// outcomes yields what the calls of the tools do.
func (c Case) outcomes() iter.Seq2[*toolCase, *outcome] {
	return func(yield func(*toolCase, *outcome) bool) {
		for n := range c.Tools {
			for _, play := range c.Tools[n].Plays {
				for at := range play {
					if !yield(&c.Tools[n], &play[at]) {
						return
					}
				}
			}
		}
	}
}

// Cancels reports whether the run is cancelled at some point, if it comes so far. An engine whose runs do not
// end with the context of [World.Context] does not take these cases.
func (c Case) Cancels() bool {
	for _, o := range c.outcomes() {
		if o.Kind == cancels {
			return true
		}
	}
	return slices.ContainsFunc(c.Replies, func(r replyCase) bool { return r.Cancels }) ||
		slices.ContainsFunc(c.Plans, func(p planCase) bool { return p.Cancels }) ||
		slices.ContainsFunc(c.Tries, func(o outcome) bool { return o.Kind == cancels })
}

type sliceCase struct {
	Name string
	Kind session.Kind
}

// reducerCase changes a slice when it hears an event.
type reducerCase struct {
	Name, On, Slice string
	// When is a text that the payload must contain for the reducer to do anything.
	When string
	// Do is what it does with the payload. Instead it returns the error Refuses, or panics with Panics.
	Do      reducer.OpKind
	Refuses string
	Panics  string
}

// planCase is an answer of the planner, or its error.
type planCase struct {
	machine.Plan
	Err string
	// Cancels reports that the run is cancelled while the planner is asked.
	Cancels bool
}

// adjustCase is a change of the policy during the run.
type adjustCase struct {
	// Attempts is the number of attempts in the session from which on Layer is over the policy.
	Attempts int
	Layer    policy.Layer
}
