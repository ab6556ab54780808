package kit

import (
	"slices"

	"github.com/retake-go/retake/message"
)

// The texts for an API that requires one where the transcript has none.
const (
	// GoOn is a user message before a conversation that begins with the model, and after one that ends
	// with it.
	GoOn = "Continue."
	// notRun answers a call without an answer.
	notRun = "No result: the call was not run."
	// failed is the text of empty feedback.
	failed = "The call failed."
)

// Rules are the requirements of an API. Name is required.
type Rules struct {
	// Name returns a name of a tool that the API accepts; a model may have written anything.
	Name func(string) string
	// TakesID reports whether the API accepts the id of a call; nil accepts all that are not empty.
	TakesID func(string) bool
	// MakeID makes the n-th replacement of an id, from 1; nil makes "call-1", "call-2", …
	MakeID func(n int) string
	// MediaInAnswers keeps the media of a result in the answer to its call. Without it they become a user
	// message right after the answers, and so do those of an error: Anthropic refuses them there.
	MediaInAnswers bool
	// SystemInPlace keeps system messages in their place. Without it those before the first user or model
	// message open the conversation. Most APIs have no place for later ones: they become user messages.
	SystemInPlace bool
	// SystemLater keeps only the later system messages in their place.
	SystemLater bool
	// UserAround is of APIs that refuse a conversation which begins or ends with the model: [GoOn] is added
	// before or after it. An answer to a call ends one too, and so does a system message in its place.
	UserAround bool
}

// Exchange is a message of the model, the answers to its calls, and the messages until the model's next
// one.
type Exchange struct {
	// Model is the message of the model. In the first exchange it has no role if the model did not begin.
	Model message.Message
	// Calls are the calls of Model in its order, each answered.
	Calls []Call
	// Then are the messages after it: user messages, and system messages if the rules keep them in place.
	Then []message.Message
}

// Call is a call of a transcript, with its answer.
type Call struct {
	// Made is the call in the transcript.
	Made message.Call
	// ID and Name are those sent to the API. Ids are unique in a conversation.
	ID, Name string
	// Text and IsError are the answer. A missing answer is an error that says so. The text of an error is
	// never empty.
	Text    string
	IsError bool
	// Parts are the media of a result, under [Rules].MediaInAnswers.
	Parts []message.Part

	answered bool
}

// Exchanges puts a transcript into the order that APIs require, whichever provider it was made with: every
// call is answered, right after the message that made it. An answer belongs to the call with its id, else
// to the first open one of its name (derived ids may differ). An answer without a call becomes a user
// message. Empty messages are dropped. Where neither the user nor the model says anything, the user says
// [GoOn]. opening has the system messages before the conversation.
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
	o.aroundUser()
	if first := o.all[0]; len(first.Then) == 0 {
		return opening, o.all[1:]
	}
	return opening, o.all
}

// aroundUser adds what the user says where the API wants it and nobody says it.
func (o *orderer) aroundUser() {
	goOn := message.Message{Role: message.User, Text: GoOn}
	first, last := &o.all[0], &o.all[len(o.all)-1]
	isOther := func(m message.Message) bool { return m.Role != message.System }
	isSilent := first == last && !slices.ContainsFunc(first.Then, isOther)
	if isSilent || o.rules.UserAround && len(first.Then) == 0 {
		first.Then = append(first.Then, goOn)
	}
	if o.rules.UserAround && len(last.Calls)+len(last.Then) == 0 {
		last.Then = append(last.Then, goOn)
	}
}

type orderer struct {
	rules Rules
	all   []Exchange
	taken map[string]bool
	// made counts the ids made so far.
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
	case m.Role == message.System && (o.rules.SystemInPlace || o.rules.SystemLater):
		now.Then = append(now.Then, m)
	default:
		now.Then = append(now.Then, message.Message{Role: message.User, Text: m.Text, Parts: m.Parts})
	}
}

func (o *orderer) calls(made []message.Call) []Call {
	calls := make([]Call, len(made))
	for n, c := range made {
		calls[n] = Call{Made: c, ID: o.claim(c.ID), Name: o.rules.Name(c.Name), Text: notRun, IsError: true}
	}
	return calls
}

// claim returns the id of a call on the wire: its own, or the next free "call-1", "call-2", … if the API
// would refuse it or it was used before, as happens with derived ids.
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
	at := slices.IndexFunc(now.Calls,
		func(c Call) bool { return !c.answered && c.Made.ID != "" && c.Made.ID == m.CallID })
	if at < 0 {
		at = slices.IndexFunc(now.Calls, func(c Call) bool { return !c.answered && c.Name == name })
	}
	if at < 0 {
		now.Then = append(now.Then, message.Message{Role: message.User, Text: "Result of " + name + ": " +
			m.Text, Parts: m.Parts})
		return
	}
	if o.rules.MediaInAnswers && !m.IsError {
		now.Calls[at].Parts = m.Parts
	} else if len(m.Parts) > 0 {
		now.Then = append(now.Then, message.Message{Role: message.User, Text: "Media of the result of " +
			name + ":", Parts: m.Parts})
	}
	c := &now.Calls[at]
	c.Text, c.IsError, c.answered = m.Text, m.IsError, true
	if m.IsError && Blank(m.Text) {
		c.Text = failed
	}
}
