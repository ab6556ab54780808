package loop

import (
	"encoding/json"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// The events that the loop itself dispatches to a session's reducers.
const (
	// ToolResult is dispatched when a call has succeeded; its payload is a [ToolResultEvent].
	ToolResult = "tool_result"
	// StructuredOutput is dispatched when the answer was accepted; its payload is the answer's JSON, or its
	// text as a JSON string.
	StructuredOutput = "structured_output"
)

// ToolResultEvent is the payload of [ToolResult].
type ToolResultEvent struct {
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
}

// hears reports whether anybody wants to know of events of a name: what nobody hears is not made.
type hears func(event string) bool

func everything(string) bool { return true }

// answerEvents are the events that an answer is to the reducers.
func answerEvents(heard hears, text string, a *machine.Answer) []session.Event {
	if !heard(StructuredOutput) {
		return nil
	}
	payload := []byte(a.Value)
	if a.Value == nil {
		var err error
		if payload, err = canon.Marshal(text); err != nil {
			payload = []byte(`""`)
		}
	}
	return []session.Event{{Name: StructuredOutput, Payload: payload}}
}

// toolEvents are the events that a call which has succeeded is to the reducers.
func toolEvents(heard hears, run machine.ToolRun, out tool.Outcome) (events []session.Event) {
	if heard(ToolResult) {
		events = append(events, session.Event{Name: ToolResult, Payload: resultPayload(run, out.Result)})
	}
	for _, e := range out.Events {
		if heard(e.Name) {
			events = append(events, session.Event{Name: e.Name, Payload: e.Payload})
		}
	}
	return events
}

// resultPayload is a [ToolResultEvent] as canonical JSON.
func resultPayload(run machine.ToolRun, result []byte) []byte {
	p, err := canon.Marshal(ToolResultEvent{Tool: run.Tool, CallID: run.ID, Arguments: run.Arguments, Result: result})
	if err != nil {
		return []byte(`{}`)
	}
	return p
}
