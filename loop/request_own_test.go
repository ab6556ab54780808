package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A model may write into its request: later requests, the journal and the caller's own values stay as they
// are.
func TestAModelMayWriteIntoItsRequest(t *testing.T) {
	var asked []loop.Request
	script := looptest.NewModel(looptest.Call(call("book_room", `{}`)), looptest.Call(call("book_room", `{"city": "Lisbon", "nights": 2, "room": "double"}`)),
		looptest.Say("Booked."))
	model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		seen := req
		seen.Messages = message.Clone(req.Messages)
		asked = append(asked, seen)
		reply, err := script.Reply(ctx, seen)
		for n := range req.Messages {
			for c := range req.Messages[n].Calls {
				req.Messages[n].Calls[c] = message.Call{Name: "evil"}
			}
			for p := range req.Messages[n].Parts {
				req.Messages[n].Parts[p].Data = "evil"
			}
			req.Messages[n].Text = "evil"
		}
		_ = append(req.Messages, message.Message{Role: message.User, Text: "evil"})
		req.At[0].Attempt, req.Stop[0], *req.Temperature = 99, "evil", 2
		clear(req.Tools)
		return reply, err
	})
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", plainSettings)
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.PerAttempt = []policy.Settings{{Temperature: new(0.5)}}
	cfg := loop.Config{Tools: bookRoom(t, booked), Stop: []string{"END"}, Policy: &set}
	in := loop.Input{Prompt: "Book.", Attach: []message.Part{message.Bytes(message.ImagePart, "image/png", []byte("picture"))}}
	r, err := fixture.Run(t.Context(), model, fixture.In(newSession(t), j), in, cfg)
	looptest.AssertAnswer(t, r, err, "Booked.")
	require.NoError(t, j.Close())
	_, err = journal.Replay(strings.NewReader(string(store.Text("order-42"))), nil)
	require.NoError(t, err)
	assert.NotContains(t, string(store.Text("order-42")), "evil")
	require.Len(t, asked, 3)
	assert.Equal(t, r.Transcript[:len(r.Transcript)-1], asked[2].Messages)
	assert.Equal(t, []string{"END"}, cfg.Stop)
	assert.Equal(t, 0.5, *set.Global.PerAttempt[0].Temperature)
}

// What a model writes into a request that it kept is in no request to another model of the run.
func TestAModelMayWriteIntoARequestThatItKept(t *testing.T) {
	var kept loop.Request
	first := looptest.NewModel(looptest.Call(call("book_room", `{"city": "Lisbon", "nights": 2, "room": "double"}`)), looptest.Call(call("book_room", `{}`)))
	keeps := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		kept = req
		return first.Reply(ctx, req)
	})
	var told []message.Message
	second := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		kept.Messages[0].Text, kept.Messages[1].Calls[0].Arguments = "evil", "evil"
		told = message.Clone(req.Messages)
		return message.Reply{Text: "Booked."}, nil
	})
	set := policy.DefaultSet()
	set.Global.PerAttempt = []policy.Settings{{}, {Model: "second"}}
	r, err := fixture.Run(t.Context(), keeps, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked), Policy: &set},
		loop.WithModels(map[string]loop.Model{"second": second}))
	looptest.AssertAnswer(t, r, err, "Booked.")
	assert.Equal(t, r.Transcript[:len(r.Transcript)-1], told)
}

// A function that makes prompts may write into the parts of a message that it returned before.
func TestAPromptMayBeWrittenIntoAfterwards(t *testing.T) {
	script := looptest.NewModel(looptest.Call(call("book_room", `{"city": "Lisbon", "nights": 2, "room": "double"}`)), looptest.Say("Booked."))
	made := []message.Message{{Role: message.User, Text: "Now:", Parts: make([]message.Part, 1)}}
	prompts := []string{"first", "second"}
	prompt := func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
		made[0].Parts[0], prompts = message.Part{Kind: message.TextPart, Text: prompts[0]}, prompts[1:]
		return "", made, nil
	}
	r, err := fixture.Run(t.Context(), script, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithPrompt(prompt))
	looptest.AssertAnswer(t, r, err, "Booked.")
	asked := script.Requests()[1].Messages
	assert.Equal(t, "first", asked[1].Parts[0].Text)
	assert.Equal(t, "second", asked[4].Parts[0].Text)
}
