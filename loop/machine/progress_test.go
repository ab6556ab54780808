package machine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// repeating makes the same reply until the run ends, and returns the last state. The tool is booked once.
func repeating(t *testing.T, layer policy.Layer, reply machine.Event) machine.State {
	t.Helper()
	cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
	cfg.Policy.Tools = map[string]policy.Layer{"book": layer}
	st, err := machine.New(cfg, session.State{})
	require.NoError(t, err)
	for st = step(t, st, start()); st.Phase == machine.Calling; {
		if st = step(t, st, reply); st.Phase == machine.Running {
			st = step(t, st, machine.Event{Kind: machine.ToolEnded, At: began, Tool: &machine.ToolEnd{
				Verdict: machine.Done, Result: json.RawMessage(`"ok"`),
				Parts: []message.Part{{Kind: message.ImagePart, MediaType: "image/png", Data: "AQ=="}}}})
		}
	}
	require.Equal(t, policy.ReasonNoProgress, st.Outcome.Reason)
	return st
}

func TestARecordOfACycleHasNoRepairs(t *testing.T) {
	reply := goodCall("{}")
	reply.Reply.Calls[0].Repairs = []extract.Repair{{Kind: extract.Prose}}
	attempts := repeating(t, policy.Layer{EqualCalls: policy.EqualRecorded}, reply).Attempts()
	last := attempts[len(attempts)-1]
	require.Equal(t, policy.ReasonNoProgress, last.Reason)
	assert.Empty(t, last.Repairs, "the attempts of its calls have them")
	assert.NotEmpty(t, attempts[len(attempts)-2].Repairs)
}

// Two equal calls of a reply are one call of a cycle, also if the result has media.
func TestEqualCallsWithMediaCountOnce(t *testing.T) {
	reply := goodCall("{}")
	reply.Reply.Message.Calls = append(reply.Reply.Message.Calls, message.Call{ID: "c2", Name: "book", Arguments: "{}"})
	second := reply.Reply.Calls[0]
	second.ID = "c2"
	reply.Reply.Calls = append(reply.Reply.Calls, second)
	st := repeating(t, policy.Layer{EqualInReply: policy.EqualRecorded}, reply)
	assert.Len(t, st.Outcome.Exhaustion.Cycle.Calls, 1)
}

// A call whose result differs in a part alone makes progress.
func TestAPartThatIsAnotherIsAnotherResult(t *testing.T) {
	for name, part := range map[string]func(n int) message.Part{
		"text": func(n int) message.Part { return message.Part{Kind: message.TextPart, Text: fmt.Sprint("page ", n)} },
		"url": func(n int) message.Part {
			return message.Part{Kind: message.ImagePart, URL: fmt.Sprint("https://a/", n)}
		},
		"data": func(n int) message.Part {
			return message.Part{Kind: message.ImagePart, MediaType: "image/png", Data: fmt.Sprintf("%04d", n)}
		},
	} {
		st := step(t, fresh(t, machine.Config{}), start())
		for n := range 12 {
			st = step(t, st, goodCall("{}"), machine.Event{Kind: machine.ToolEnded, At: began, Tool: &machine.ToolEnd{
				Verdict: machine.Done, Result: json.RawMessage(`"see the attachment"`), Parts: []message.Part{part(n)}}})
			if !assert.Equal(t, machine.Calling, st.Phase, "%s %d", name, n) {
				break
			}
		}
	}
}
