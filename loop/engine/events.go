package engine

import (
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Everything is for those who want to know of all events: what nobody hears is not made.
func Everything(string) bool { return true }

// AnswerEvents are the events that an answer is to the reducers.
func AnswerEvents(heard func(event string) bool, text string, a *machine.Answer) []session.Event {
	if !heard(session.StructuredOutput) {
		return nil
	}
	payload := []byte(a.Value)
	if a.Value == nil {
		var err error
		if payload, err = canon.Marshal(text); err != nil {
			payload = []byte(`""`)
		}
	}
	return []session.Event{{Name: session.StructuredOutput, Payload: payload}}
}

// ToolEvents are the events that a call which has succeeded is to the reducers.
func ToolEvents(heard func(event string) bool, run machine.ToolRun, out tool.Outcome) (events []session.Event) {
	if heard(session.ToolResult) {
		events = append(events, session.Event{Name: session.ToolResult, Payload: resultPayload(run, out.Result)})
	}
	for _, e := range out.Events {
		if heard(e.Name) {
			events = append(events, session.Event{Name: e.Name, Payload: e.Payload})
		}
	}
	return events
}

// TryEvent is the name of the event that a good try of an action is: [session.ToolResult] of a tool's, else
// [session.StructuredOutput].
func TryEvent(tool string) string {
	if tool == "" {
		return session.StructuredOutput
	}
	return session.ToolResult
}

// TryEvents are the events that a good try of an action is to the reducers; value is what it came to, as
// JSON, nil where nobody said.
func TryEvents(heard func(event string) bool, name string, value []byte) []session.Event {
	event := TryEvent(name)
	switch {
	case !heard(event):
		return nil
	case event == session.ToolResult:
		value = resultPayload(machine.ToolRun{Tool: name}, value)
	}
	return []session.Event{{Name: event, Payload: value}}
}

// resultPayload is a [session.ToolResultEvent] as canonical JSON.
func resultPayload(run machine.ToolRun, result []byte) []byte {
	p, err := canon.Marshal(session.ToolResultEvent{Tool: run.Tool, CallID: run.ID, Arguments: run.Arguments, Result: result})
	if err != nil {
		return []byte(`{}`)
	}
	return p
}
