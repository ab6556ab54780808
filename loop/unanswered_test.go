package loop_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// results are the results of calls that a run left to its caller.
func results(calls []machine.ToolRun) (all []message.Message) {
	for _, c := range calls {
		all = append(all, message.Message{Role: message.Tool, CallID: c.ID, Name: c.Tool, Text: `{"number":"R-1"}`})
	}
	return all
}

// twoCalls is a model that calls twice in one reply, without ids, and then answers.
func twoCalls() *looptest.Model {
	porto := strings.ReplaceAll(lisbon, "Lisbon", "Porto")
	return looptest.NewModel(
		looptest.Call(message.Call{Name: "book_room", Arguments: lisbon}, message.Call{Name: "book_room", Arguments: porto}),
		looptest.Say("Booked."),
	)
}

// roles are the roles and ids of what a model is asked.
func roles(req loop.Request) (all []string) {
	for _, m := range req.Messages {
		all = append(all, strings.TrimSpace(string(m.Role)+" "+m.CallID))
	}
	return all
}

var withResults = []string{"user", "assistant", "tool call-1", "tool call-2", "user"}

func TestAConversationGoesOnAfterCallsOnceTheyHaveResults(t *testing.T) {
	model, s := twoCalls(), newSession(t)
	cfg := loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true}
	asked, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, cfg)
	require.NoError(t, err)
	cfg.CallsOnly = false

	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Well?"}, cfg)
	require.ErrorIs(t, err, session.ErrUnanswered)
	require.ErrorContains(t, err, `"book_room" (call-1), "book_room" (call-2): hand them over with Session.Answer`)
	assert.Len(t, model.Requests(), 1, "nothing was asked")

	came := results(asked.Calls)
	require.NoError(t, s.Answer(came[1]))
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Well?"}, cfg)
	require.ErrorContains(t, err, `no result: "book_room" (call-1): hand`)

	require.NoError(t, s.Answer(came[0]))
	require.ErrorIs(t, s.Answer(came[0]), session.ErrNoCall)
	last, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Well?"}, cfg)
	require.NoError(t, err)
	assert.Equal(t, "Booked.", last.Text)
	assert.Equal(t, []string{"user", "assistant", "tool call-2", "tool call-1", "user"}, roles(model.Requests()[1]))
	assert.Equal(t, last.Transcript, s.Conversation())
}

func TestACallThatIsLeftOpenCanBeForgotten(t *testing.T) {
	model, s := twoCalls(), newSession(t)
	cfg := loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true}
	_, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, cfg)
	require.NoError(t, err)
	cfg.CallsOnly = false
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Hello.", NewConversation: true}, cfg)
	require.NoError(t, err)
	assert.Equal(t, []string{"user"}, roles(model.Requests()[1]))
}

func TestAHistoryEndsWithTheResultsOfItsCalls(t *testing.T) {
	model := twoCalls()
	cfg := loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true}
	asked, err := fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Book."}, cfg)
	require.NoError(t, err)
	cfg.CallsOnly = false
	in := loop.Input{Prompt: "Well?", History: asked.Transcript}
	require.ErrorContains(t, in.Validate(), "history: session: calls of the conversation have no result")
	_, err = fixture.Run(t.Context(), model, nil, in, cfg)
	require.ErrorIs(t, err, session.ErrUnanswered)

	in.History = append(in.History, results(asked.Calls)...)
	_, err = fixture.Run(t.Context(), model, nil, in, cfg)
	require.NoError(t, err)
	assert.Equal(t, withResults, roles(model.Requests()[1]))
}

func TestResultsOfCallsThatWereWrittenAsTextAreText(t *testing.T) {
	model := looptest.NewModel(
		looptest.Say("<tool_call>\n{\"name\": \"book_room\", \"arguments\": "+lisbon+"}\n</tool_call>"),
		looptest.Say("Booked."),
	)
	s, cfg := newSession(t), loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true}
	asked, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, cfg)
	require.NoError(t, err)
	require.Len(t, asked.Calls, 1)

	failed := message.Message{Role: message.Tool, Name: "book_room", Text: "no {{rooms}}", IsError: true}
	require.NoError(t, s.Answer(append(results(asked.Calls), failed)...))
	cfg.CallsOnly = false
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Well?"}, cfg)
	require.NoError(t, err)
	got := model.Requests()[1].Messages
	require.Len(t, got, 4)
	assert.Equal(t, message.Message{Role: message.User, IsError: true,
		Text: `Result of book_room: {"number":"R-1"}` + "\n\n" + `No result of book_room: "no \u007b{rooms\u007d}"`}, got[2])
}

// The results belong to the next run: it records them, and a process that has only the journal hands them
// over again if the run before it did not begin.
func TestResultsAreRecordedWithTheNextRun(t *testing.T) {
	model, dir := twoCalls(), journal.Dir(t.TempDir())
	cfg := loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true}
	next := cfg
	next.CallsOnly = false
	open := func() *journal.Journal {
		t.Helper()
		j, err := journal.Open(t.Context(), dir, "order-42", plainSettings)
		require.NoError(t, err)
		return j
	}
	j := open()
	first, err := fixture.Run(t.Context(), model, fixture.In(nil, j), loop.Input{Prompt: "Book.", RequestID: "1"}, cfg)
	require.NoError(t, err)
	require.NoError(t, j.Close())

	j, s := open(), newSessionNamed(t, "order-42")
	require.ErrorIs(t, s.Answer(results(first.Calls)...), session.ErrNoCall, "it does not know its journal yet")
	_, err = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Well?", RequestID: "2"}, next)
	require.ErrorIs(t, err, session.ErrUnanswered)
	s = newSessionNamed(t, "order-42")
	again, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Book.", RequestID: "1"}, cfg)
	require.NoError(t, err)
	assert.Equal(t, first.Calls, again.Calls)
	assert.False(t, again.Recorded.IsZero())
	require.NoError(t, s.Answer(results(again.Calls)...))
	last, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Well?", RequestID: "2"}, next)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	assert.Equal(t, withResults, roles(model.Requests()[1]))

	j = open()
	defer func() { assert.NoError(t, j.Close()) }()
	held, err := j.Contents()
	require.NoError(t, err)
	assert.Equal(t, last.Transcript, held.Conversation)
	past, err := j.Past()
	require.NoError(t, err)
	assert.Equal(t, 2, past.Header.Held, "only the results are recorded beside the prompt")
}

func TestASnapshotKeepsResults(t *testing.T) {
	model, s := twoCalls(), newSession(t)
	asked, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true})
	require.NoError(t, err)
	require.NoError(t, s.Answer(results(asked.Calls)...))
	held, err := s.Snapshot()
	require.NoError(t, err)
	s, err = session.Restore(session.Config{}, held)
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Well?"}, loop.Config{Tools: bookRoom(t, unbookable(t))})
	require.NoError(t, err)
	assert.Equal(t, withResults, roles(model.Requests()[1]))
}

func TestAPoolGoesOnAfterCalls(t *testing.T) {
	model, s, cfg := twoCalls(), newSession(t), loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true}
	asked, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, cfg)
	require.NoError(t, err)
	p, err := loop.NewPool(loop.PoolConfig{Model: model, Config: loop.Config{Tools: cfg.Tools}, Done: func(*session.Session, loop.Result, error) {}})
	require.NoError(t, err)
	_, err = p.Add(s, loop.Input{Prompt: "Well?"})
	require.ErrorIs(t, err, session.ErrUnanswered)
	require.NoError(t, s.Answer(results(asked.Calls)...), "the session is free")
	_, err = p.Add(s, loop.Input{Prompt: "Well?"})
	require.NoError(t, err)
	require.ErrorIs(t, s.Answer(), session.ErrBusy)
	require.NoError(t, p.Run(t.Context(), 1))
	assert.Equal(t, withResults, roles(model.Requests()[1]))
}

func TestARunnerTakesResultsWithItsFirstMessages(t *testing.T) {
	r, err := fixture.Runner(newSession(t), loop.Config{}, nil)
	require.NoError(t, err)
	defer r.Close()
	calls := message.Message{Role: message.Assistant, Calls: []message.Call{call("book_room", lisbon)}}
	_, err = r.Start(time.Unix(0, 0), calls, message.Message{Role: message.User, Text: "Well?"})
	require.ErrorIs(t, err, session.ErrUnanswered)
	result := message.Message{Role: message.Tool, CallID: calls.Calls[0].ID, Name: "book_room", Text: "{}"}
	_, err = r.Start(time.Unix(0, 0), calls, result, message.Message{Role: message.User, Text: "Well?"})
	require.NoError(t, err)
}

func TestAnswerTakesResultsOnly(t *testing.T) {
	s := newSession(t)
	require.NoError(t, s.Answer(), "nothing")
	require.ErrorContains(t, s.Answer(message.Message{Role: message.Tool}), "it has no conversation")
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		assert.ErrorIs(t, s.Answer(), session.ErrBusy)
		return message.Reply{Calls: []message.Call{call("book_room", lisbon)}}, nil
	})
	asked, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true})
	require.NoError(t, err)
	own := results(asked.Calls)[0]
	wrong := own
	wrong.CallID, wrong.Name = "c9", "pay"
	require.ErrorContains(t, s.Answer(own, wrong), `results[1]: no call waits for this result: call_id "c9", name "pay"`)
	wrong.Role = message.User
	require.ErrorContains(t, s.Answer(wrong), "results[0].role: must be tool, is user")
	wrong.Role = ""
	require.ErrorContains(t, s.Answer(wrong), "session: results[0].role: must be system, user, assistant or tool")
	assert.Len(t, s.Conversation(), 2, "nothing was added")
}
