package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// answers is a session that keeps the answers of its runs.
func answers(t *testing.T) *session.Session {
	t.Helper()
	all := session.LogSlice[string]("answers")
	s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{all}, Reducers: []session.Reducer{
		session.On(all, session.EventStructuredOutput, "answers.keep", reducer.Appending[string]()),
	}})
	require.NoError(t, err)
	return s
}

// values are those of a slice of the session.
func values(t *testing.T, s *session.Session, slice string) (all []string) {
	t.Helper()
	raw, ok := s.State().Values(slice)
	require.True(t, ok)
	for _, v := range raw {
		var text string
		require.NoError(t, json.Unmarshal(v, &text))
		all = append(all, text)
	}
	return all
}

// A process of its own makes each turn of a conversation: the session goes on with what its journal has.
func TestASessionGoesOnInTheNextProcess(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	in := func(do func(j *journal.Journal, s *session.Session)) {
		t.Helper()
		j, err := journal.Open(t.Context(), dir, "order-42", plainSettings)
		require.NoError(t, err)
		do(j, answers(t))
		require.NoError(t, j.Close())
	}
	model := looptest.NewModel(looptest.Say("one"), looptest.Say("two"), looptest.Say("three"))
	for n, prompt := range []string{"First?", "Second?"} {
		in(func(j *journal.Journal, s *session.Session) {
			_, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: prompt}, loop.Config{System: `{{range values "answers"}}{{.}} {{end}}`})
			require.NoError(t, err)
			assert.Equal(t, []string{"one", "two"}[:n+1], values(t, s, "answers"))
			assert.Len(t, s.State().Attempts(), n+1)
			assert.Len(t, s.Conversation(), 2*(n+1))
		})
	}
	assert.Equal(t, "one ", model.Requests()[1].System, "the prompt shows what the process before kept")
	in(func(j *journal.Journal, s *session.Session) {
		_, err := loop.Do(t.Context(), fixture.In(s, j), loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 1, nil })
		require.NoError(t, err)
		assert.Equal(t, []string{"one", "two"}, values(t, s, "answers"))
	})
	in(func(j *journal.Journal, s *session.Session) {
		_, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Third?", NewConversation: true}, loop.Config{})
		require.NoError(t, err)
		assert.Equal(t, []string{"one", "two", "three"}, values(t, s, "answers"), "the conversation is new, the session is not")
		assert.Len(t, s.Conversation(), 2)
	})
	in(func(j *journal.Journal, _ *session.Session) {
		_, err := fixture.Run(t.Context(), model, fixture.In(nil, j), loop.Input{Prompt: "Fourth?"}, loop.Config{})
		require.ErrorContains(t, err, `slice "answers": unknown slice`)
	})
}

// What the program has put into a session goes before what its journal has.
func TestASessionWithContentsKeepsThem(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(t.Context(), dir, "order-42", plainSettings)
	require.NoError(t, err)
	defer func() { assert.NoError(t, j.Close()) }()
	model := looptest.NewModel(looptest.Say("one"), looptest.Say("two"))
	_, err = fixture.Run(t.Context(), model, fixture.In(answers(t), j), loop.Input{Prompt: "First?"}, loop.Config{})
	require.NoError(t, err)
	s := answers(t)
	require.NoError(t, s.Dispatch(session.Event{Name: session.EventStructuredOutput, Payload: json.RawMessage(`"zero"`)}))
	last, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Second?"}, loop.Config{})
	require.NoError(t, err)
	assert.Equal(t, []string{"zero", "two"}, values(t, s, "answers"))
	assert.Equal(t, message.User, last.Transcript[0].Role)
	assert.Len(t, last.Transcript, 4, "the conversation goes on all the same")
}

// A header without an event is a run that was never begun: the run before it is still the last.
func TestARunWithoutAnEventWasNotBegun(t *testing.T) {
	for name, redact := range map[string]*journal.Redaction{
		"plain":    nil,
		"redacted": {Prompts: true, Replies: true, Transcripts: &kept{texts: map[string]string{}}},
	} {
		t.Run(name, func(t *testing.T) {
			store, with := &looptest.Store{}, journal.Settings{Sync: journal.SyncNever, Redact: redact}
			model := looptest.NewModel(looptest.Say("one"), looptest.Say("two"))
			in := func(do func(j *journal.Journal)) {
				t.Helper()
				j, err := journal.Open(t.Context(), store, "order-42", with)
				require.NoError(t, err)
				do(j)
				require.NoError(t, j.Close())
			}
			var first loop.Result
			ended := 0
			in(func(j *journal.Journal) {
				var err error
				first, err = fixture.Run(t.Context(), model, fixture.In(nil, j), loop.Input{Prompt: "First?", RequestID: "1"}, loop.Config{})
				require.NoError(t, err)
				ended = len(store.Text("order-42"))
				_, err = fixture.Run(t.Context(), model, fixture.In(nil, j), loop.Input{Prompt: "Second?", RequestID: "2", NewConversation: true}, loop.Config{})
				require.NoError(t, err)
			})
			text := store.Text("order-42")
			header, _, _ := bytes.Cut(text[ended:], []byte("\n"))
			require.Contains(t, string(header), `"header"`)
			store = &looptest.Store{}
			log, err := store.Open(t.Context(), "order-42")
			require.NoError(t, err)
			require.NoError(t, errors.Join(log.Append(t.Context(), 0, text[:ended+len(header)+1], false), log.Close()))
			in(func(j *journal.Journal) {
				s := newSessionNamed(t, "order-42")
				again, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "First?", RequestID: "1"}, loop.Config{})
				require.NoError(t, err)
				assert.Equal(t, first.Transcript, again.Transcript)
				assert.False(t, again.Recorded.IsZero())
				assert.Equal(t, first.Transcript, s.Conversation())
				resumed, err := fixture.Resume(t.Context(), model, fixture.In(newSessionNamed(t, "order-42"), j), loop.Config{})
				require.NoError(t, err)
				assert.Equal(t, "one", resumed.Text)
			})
		})
	}
}
