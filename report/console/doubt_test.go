package console_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// The process of a run died while an agent in its agent paid: of the outer calls too nobody knows what they
// did.
func TestWhatAnAgentLeftInDoubtCountsForTheRunsAroundIt(t *testing.T) {
	var answer struct{ Sessions []journal.Summary }
	c := open(t, threeDeep(t, false))
	for range 2 {
		require.NoError(t, json.Unmarshal([]byte(body(t, ask(t, c, "GET", "/api/sessions"))), &answer))
		require.Len(t, answer.Sessions, 3)
		for _, s := range answer.Sessions {
			assert.Equal(t, 1, s.InDoubt, s.Session)
			assert.Equal(t, journal.SessionInterrupted, s.State)
		}
	}
}

// What an agent in an agent asks is said of the runs around it, too.
func TestWhatAnAgentAsksIsSaidOfTheRunsAroundIt(t *testing.T) {
	var answer struct{ Sessions []journal.Summary }
	c := open(t, threeDeep(t, true))
	require.NoError(t, json.Unmarshal([]byte(body(t, ask(t, c, "GET", "/api/sessions"))), &answer))
	require.Len(t, answer.Sessions, 3)
	around := "Sessions</a> / "
	for n, s := range answer.Sessions {
		assert.Equal(t, n < 2, strings.HasSuffix(s.Why, "; its agent asks: pay?"), "%s: %s", s.Session, s.Why)
		page := body(t, ask(t, c, "GET", "/session?id="+s.Session))
		assert.Contains(t, page, `<a id="answer" href="inbox?at=q0-`, "its page leads to the question")
		assert.Contains(t, page, around+" <span>last event", "and to the sessions around it")
		assert.Contains(t, page, `<div class="outcome warn" id="o1" hidden>`, "what goes on is said once, above")
		around += `<a href="session?id=` + s.Session + `" dir="auto">` + s.Session + `</a> / `
	}
	assert.Equal(t, "pay?", answer.Sessions[2].Why)
}

// threeDeep has the journals of a run, its agent and that one's agent as they are while the last pays, or
// asks whether it may.
func threeDeep(t *testing.T, asks bool) (dir string) {
	t.Helper()
	store, dir := new(looptest.Store), t.TempDir()
	keep := func() {
		for _, id := range []string{"trip", "trip.1.1.1", "trip.1.1.1.1.1.1"} {
			put(t, dir, id+".jsonl", store.Text(id))
		}
	}
	opts := []loop.Option{loop.WithClock(looptest.NewClock())}
	inside := tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { keep(); return "", nil })
	if asks {
		inside = tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "", nil }, always)
		opts = append(opts, loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
			keep()
			return machine.Response{Verdict: machine.Approve}, nil
		}))
	}
	for _, of := range [][2]string{{"clerk", "pay"}, {"desk", "clerk"}, {"", "desk"}} {
		set, err := tool.NewSet(inside)
		require.NoError(t, err)
		arguments := `{"task":"Pay."}`
		if of[1] == "pay" {
			arguments = `{}`
		}
		model := looptest.NewModel(looptest.Call(fixture.Call(of[1], arguments)), looptest.Say("Paid."))
		if of[0] != "" {
			inside, err = agent.AsTool(of[0], "Pays.", model, loop.Config{Tools: set})
			require.NoError(t, err)
			continue
		}
		j, err := journal.Open(t.Context(), store, "trip", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: "trip", Journal: j})
		require.NoError(t, err)
		_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Go."}, loop.Config{Tools: set}, opts...)
		require.NoError(t, err)
	}
	return dir
}
