package wire

import (
	"slices"

	"github.com/retake-go/retake/message"
)

// What is said where an API wants words and the transcript has none.
const (
	// GoOn opens a conversation that begins with the model, and closes one that ends with it.
	GoOn = "Continue."
	// NotRun answers a call that nobody answered.
	NotRun = "No result: the call was not run."
	// Failed is feedback without a word.
	Failed = "The call failed."
)

// Rules are what an API demands of calls. Name is required.
type Rules struct {
	// Name is a tool's name as the API takes it; a model may have written anything.
	Name func(string) string
	// TakesID reports whether the API takes the id of a call; nil where it takes any that is not empty.
	TakesID func(string) bool
	// MakeID makes the n-th id for calls whose own is not taken, from 1; nil for "call-1", "call-2", …
	MakeID func(n int) string
	// MediaInAnswers leaves the media of a result in the answer to its call. Without it they are the user's,
	// right after the answers.
	MediaInAnswers bool
	// SystemInPlace leaves system messages where they stand. Without it those before the first of user or
	// model are the conversation's opening, and later ones, for which most APIs have no place, become the
	// user's.
	SystemInPlace bool
}

// Exchange is a message of the model, the answers to its calls, and what was said until the model spoke
// again.
type Exchange struct {
	// Model is the model's message; of the first exchange it has no role where somebody else began.
	Model message.Message
	// Calls are those of Model, in its order, each answered.
	Calls []Call
	// Then is what was said after it: user messages, and where the rules leave them in place system messages.
	Then []message.Message
}

// Call is a call of a transcript, with its answer.
type Call struct {
	// Made is the call as the transcript has it.
	Made message.Call
	// ID and Name are those on the wire; no two calls of a conversation have the same id.
	ID, Name string
	// Text and IsError are the answer. One that nobody gave says so, and is an error; an error says at least
	// that it is one.
	Text    string
	IsError bool
	// Parts are the media of the answer, under [Rules].MediaInAnswers.
	Parts []message.Part

	answered bool
}

// Exchanges puts a transcript into the order that APIs demand, whoever it was made with: every call is
// answered, after the message that made it and before anything else. An answer belongs to the call with its
// id, else to the first open one of its name (ids that were derived may differ); one that belongs to no call
// is said by the user. Messages that say nothing are left out. opening has the system messages that stand
// before the conversation.
func (r Rules) Exchanges(said []message.Message) (opening []string, all []Exchange) {
	o := orderer{rules: r, all: make([]Exchange, 1), taken: map[string]bool{}}
	begun := r.SystemInPlace
	for _, m := range said {
		begun = begun || m.Role == message.User || m.Role == message.Assistant
		if !begun && m.Role == message.System {
			opening = append(opening, m.Text)
			continue
		}
		o.add(m)
	}
	if first := o.all[0]; len(first.Then) == 0 {
		return opening, o.all[1:]
	}
	return opening, o.all
}

type orderer struct {
	rules Rules
	all   []Exchange
	taken map[string]bool
	// made is how many ids were made so far.
	made int
}

func (o *orderer) add(m message.Message) {
	now := &o.all[len(o.all)-1]
	switch {
	case m.Role == message.Assistant:
		if !Blank(m.Text) || len(m.Calls) > 0 {
			o.all = append(o.all, Exchange{Model: m, Calls: o.calls(m.Calls)})
		}
	case m.Role == message.Tool:
		o.answer(now, m)
	case Blank(m.Text) && len(m.Parts) == 0:
	case m.Role == message.System && o.rules.SystemInPlace:
		now.Then = append(now.Then, m)
	default:
		now.Then = append(now.Then, message.Message{Role: message.User, Text: m.Text, Parts: m.Parts})
	}
}

func (o *orderer) calls(made []message.Call) []Call {
	calls := make([]Call, len(made))
	for n, c := range made {
		calls[n] = Call{Made: c, ID: o.claim(c.ID), Name: o.rules.Name(c.Name), Text: NotRun, IsError: true}
	}
	return calls
}

// claim gives a call its id on the wire: its own, unless the API would refuse it or it was given before, as
// happens with derived ones; else the next of "call-1", "call-2", … that is free.
func (o *orderer) claim(id string) string {
	makeID := o.rules.MakeID
	if makeID == nil {
		makeID = derived
	}
	for id == "" || o.taken[id] || o.rules.TakesID != nil && !o.rules.TakesID(id) {
		o.made++
		id = makeID(o.made)
	}
	o.taken[id] = true
	return id
}

func (o *orderer) answer(now *Exchange, m message.Message) {
	name := o.rules.Name(m.Name)
	at := slices.IndexFunc(now.Calls, func(c Call) bool { return !c.answered && c.Made.ID != "" && c.Made.ID == m.CallID })
	if at < 0 {
		at = slices.IndexFunc(now.Calls, func(c Call) bool { return !c.answered && c.Name == name })
	}
	if at < 0 {
		now.Then = append(now.Then, message.Message{Role: message.User, Text: "Result of " + name + ": " + m.Text, Parts: m.Parts})
		return
	}
	if o.rules.MediaInAnswers {
		now.Calls[at].Parts = m.Parts
	} else if len(m.Parts) > 0 {
		now.Then = append(now.Then, message.Message{Role: message.User, Text: "Media of the result of " + name + ":", Parts: m.Parts})
	}
	c := &now.Calls[at]
	c.Text, c.IsError, c.answered = m.Text, m.IsError, true
	if m.IsError && Blank(m.Text) {
		c.Text = Failed
	}
}
