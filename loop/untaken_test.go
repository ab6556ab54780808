package loop_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// That it was not taken stands in the journal, and why in the warnings of the result alone: it has values and
// names of members.
func TestAnAnswerThatWasNotTakenIsInNoRedactedJournal(t *testing.T) {
	type stay struct {
		From int `json:"from"`
		Pin  int `json:"pin" validate:"gtfield=From"`
	}
	tools, err := tool.NewSet(tool.New("book", "Books.", func(context.Context, stay) (string, error) { return "booked", nil },
		tool.NeedsApproval(func(stay) bool { return true })))
	require.NoError(t, err)
	store := &looptest.Store{}
	redact := &journal.Redaction{Tools: map[string]journal.ToolRedaction{"book": {Arguments: []string{"/pin", "/from"}}},
		Transcripts: &kept{texts: map[string]string{}}}
	run := func(id string, ask func(q loop.PersonQuestion, leave func(error)) machine.Response) (loop.Result, error) {
		j, err := journal.Open(t.Context(), store, id, journal.Settings{Redact: redact})
		require.NoError(t, err)
		defer j.Close()
		ctx, leave := context.WithCancelCause(t.Context())
		model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: `{"from":1,"pin":9}`}), looptest.Say("Well."))
		return fixture.Run(ctx, model, fixture.In(nil, j), loop.Input{Prompt: "Book."}, loop.Config{Tools: tools},
			loop.WithApprover(func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) { return ask(q, leave), nil }),
			loop.WithClock(looptest.NewClock()))
	}
	dies := func(_ loop.PersonQuestion, leave func(error)) machine.Response {
		leave(loop.ErrSuspended)
		return machine.Response{}
	}
	refuses := func(loop.PersonQuestion, func(error)) machine.Response {
		return machine.Response{Verdict: machine.Refuse}
	}
	answer := func(id string) {
		_, err := run(id, dies)
		require.ErrorIs(t, err, loop.ErrSuspended)
		q, err := inbox.PendingOf(t.Context(), store, id, looptest.Epoch)
		require.NoError(t, err)
		require.Len(t, q, 1)
		_, err = mail.PutAnswer(t.Context(), store, id, machine.Response{Question: q[0].ID, Verdict: machine.Approve, At: looptest.Epoch,
			By: "Ann", Arguments: json.RawMessage(`{"from":41114111,"pin":47114711,"x47114711":1}`)})
		require.NoError(t, err)
	}
	answer("order-42")
	result, err := run("order-42", refuses)
	require.NoError(t, err)
	require.Len(t, result.Warnings, 1)
	assert.Contains(t, result.Warnings[0], "x47114711: expected no member")
	assert.Contains(t, string(store.Text("order-42")), "what was put into the inbox by Ann at 2030-01-01T00:00:00Z was not taken")
	assert.NotContains(t, string(store.Text("order-42")), "4711")

	answer("order-43")
	answer("order-43") // a process took the first, and died before it had removed it
	result, err = run("order-43", refuses)
	require.NoError(t, err)
	assert.Equal(t, []string{"what was put into the inbox by Ann at 2030-01-01T00:00:00Z was not taken"}, result.Warnings)
}

// The warning outlives the process that noted it, and a compaction: it is in the result of the run that is
// resumed, and in that of who makes the request again. So is one about a message that came as the run ended.
func TestWhatWasNotTakenIsSaidWhoeverReturnsTheResult(t *testing.T) {
	var made payments
	store, model, cfg := new(postbox), askedPayer(), made.config(t)
	run := func(approve func(leave func(error)), compacted bool) loop.Result {
		if compacted {
			require.NoError(t, journal.Compact(t.Context(), store, "order-42", nil))
		}
		j := store.open(t, "order-42")
		defer j.Close()
		ctx, leave := context.WithCancelCause(t.Context())
		result, _ := fixture.Run(ctx, model, fixture.In(nil, j), loop.Input{Prompt: "Pay.", RequestID: "r1"}, cfg,
			loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
				approve(leave)
				return machine.Response{Verdict: machine.Approve}, nil
			}), loop.WithClock(looptest.NewClock()))
		return result
	}
	dies := func(leave func(error)) { leave(loop.ErrSuspended) }
	run(dies, false)
	answer := machine.Response{Question: store.pending(t)[0].ID, Verdict: machine.Approve, At: looptest.Epoch, By: "Ann",
		Arguments: json.RawMessage(`{"to":"Ann","amount":"all"}`)}
	// It takes the answer, and dies after the note: the first time before it has removed the answer.
	for range 2 {
		_, err := mail.PutAnswer(t.Context(), store, "order-42", answer)
		require.NoError(t, err)
		run(dies, false)
	}

	result := run(func(func(error)) {}, true)
	require.Len(t, result.Warnings, 1)
	assert.Contains(t, result.Warnings[0], "what was put into the inbox by Ann at 2030-01-01T00:00:00Z was not taken")
	assert.Len(t, made.calls, 1)
	j := store.open(t, "order-42")
	late := journal.Note{Kind: journal.Undelivered, At: looptest.Epoch, Text: "a message by Bob came after the run had ended"}
	require.NoError(t, j.Note(late)) // as the process does that ended it
	require.NoError(t, j.Close())
	for _, compacted := range []bool{false, true} {
		assert.Equal(t, append(result.Warnings, late.Text), run(nil, compacted).Warnings)
	}
}
