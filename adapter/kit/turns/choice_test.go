package turns_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A reply is held to the choice that was asked with it, which is none where the tool is not offered.
func TestAReplyIsHeldToTheChoiceThatWasAsked(t *testing.T) {
	add, bad := message.Call{ID: "c1", Name: "add", Arguments: `{"n": 1}`}, message.Call{ID: "c1", Name: "add", Arguments: `{}`}
	none, err := tool.NewSet()
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		choice message.ToolChoice
		tools  *tool.Set
		before []message.Reply
		reply  message.Reply
		// again reports that the model is asked again, and refused that its call is not run.
		again, refused bool
	}{
		"an answer where a call is required":   {choice: message.AnyTool, reply: message.Reply{Text: "Three."}, again: true},
		"an answer where the tool is required": {choice: "add", reply: message.Reply{Text: "Three."}, again: true},
		"an answer where nothing is offered":   {choice: message.AnyTool, tools: none, reply: message.Reply{Text: "Three."}},
		"an answer where the tool is not":      {choice: "subtract", reply: message.Reply{Text: "Three."}},
		"a call where none is allowed":         {choice: message.NoTool, reply: message.Reply{Calls: []message.Call{add}}, refused: true},
		"a call where it is required":          {choice: "add", reply: message.Reply{Calls: []message.Call{add}}},
		"an answer once no attempt is left": {choice: "add", reply: message.Reply{Text: "Three."},
			before: []message.Reply{{Calls: []message.Call{bad}}, {Calls: []message.Call{bad}}, {Calls: []message.Call{bad}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := session.New(session.Config{ID: "order-42"})
			require.NoError(t, err)
			run, err := turns.New(s, turns.Config{Clock: looptest.NewClock(),
				Settings: turns.Settings{ToolChoice: tt.choice, OnExhausted: turns.TellModel}})
			require.NoError(t, err)
			if tt.tools == nil {
				tt.tools = addTools(t)
			}
			said := func() []message.Message { return []message.Message{{Role: message.User, Text: "Add."}} }
			for _, reply := range append(tt.before, tt.reply) {
				require.NoError(t, run.Next(t.Context(), tt.tools, said))
				verdict, err := run.Reply(t.Context(), reply)
				require.NoError(t, err)
				if len(tt.before) == 0 {
					assert.Equal(t, tt.again, verdict.Again)
				}
			}
			for _, c := range tt.reply.Calls {
				call, _ := run.Claim(c.ID, c.Name, c.Arguments)
				_, refused, _ := call.Refused()
				assert.Equal(t, tt.refused, refused)
			}
			if len(tt.before) > 0 {
				result, err := run.End()
				require.NoError(t, err)
				assert.Equal(t, "Three.", result.Text)
			}
		})
	}
}
