package engine

import (
	"slices"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// answerEvents returns the reducer events of an accepted answer. heard reports which events have reducers;
// others are not made.
func answerEvents(heard func(event string) bool, text string, a *machine.Answer) []session.Event {
	if !heard(session.EventStructuredOutput) {
		return nil
	}
	payload := []byte(a.Value)
	if a.Value == nil {
		var err error
		if payload, err = canon.Marshal(extract.WithoutThoughts(text)); err != nil {
			payload = []byte(`""`)
		}
	}
	return []session.Event{{Name: session.EventStructuredOutput, Payload: payload}}
}

// toolEvents returns the reducer events of a successful tool call: its result, also as the answer if it is
// one, and the events of the tool.
func toolEvents(
	heard func(event string) bool, run machine.ToolRun, out tool.Outcome,
) (events []session.Event) {
	if heard(session.EventToolResult) {
		payload := resultPayload(run, out.Result)
		events = append(events, session.Event{Name: session.EventToolResult, Payload: payload})
	}
	if run.Answers && heard(session.EventStructuredOutput) {
		events = append(events, session.Event{Name: session.EventStructuredOutput, Payload: out.Result})
	}
	for _, e := range out.Events {
		if heard(e.Name) {
			events = append(events, e)
		}
	}
	return events
}

// unheard returns the names of the events of a successful tool call that no reducer of s is bound to and
// nobody declared, sorted: at most 8.
func unheard(s *session.Session, out tool.Outcome) (names []string) {
	for _, e := range out.Events {
		if !session.DriverOf(s).Expects(e.Name) {
			names = append(names, canon.UTF8(e.Name))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxUnheard)]
}

// maxUnheard is how many unheard events of a call are named.
const maxUnheard = 8

// TryEvents returns the reducer events of a successful try of an action: that of a result for a tool, else that
// of an answer. value is its result as JSON, or nil. heard reports which events have reducers; nil means all.
func TryEvents(heard func(event string) bool, name string, value []byte) []session.Event {
	event := session.EventStructuredOutput
	if name != "" {
		event = session.EventToolResult
	}
	switch {
	case heard != nil && !heard(event):
		return nil
	case name != "":
		value = resultPayload(machine.ToolRun{Call: machine.Call{Tool: name}}, value)
	}
	return []session.Event{{Name: event, Payload: value}}
}

// resultPayload returns a [session.ToolResultEvent] as canonical JSON.
func resultPayload(run machine.ToolRun, result []byte) []byte {
	p, err := canon.Marshal(session.ToolResultEvent{Tool: run.Tool, CallID: run.ID, Arguments: run.Arguments,
		Result: result})
	if err != nil {
		return []byte(`{}`)
	}
	return p
}
