package journal_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// What came of a call is told by its question, although all calls have the same id.
func TestWhatCameOfACallAfterAnAnswer(t *testing.T) {
	type order struct {
		Do string `json:"do"`
	}
	do := tool.New("do", "Does.", func(_ context.Context, o order) (string, error) {
		switch o.Do {
		case "fail":
			return "", tool.Fail("The account is closed.")
		case "ask":
			return "", tool.AskAgain(fault.Issue{Pointer: "/do", Expected: "a verb", Rule: "own"})
		case "break":
			return "", errors.New("the line broke")
		}
		return "receipt of " + o.Do + strings.Repeat(".", 500), nil
	}, tool.Approval(policy.Approval{When: policy.ApproveAlways, InDoubt: policy.DoubtAsk}))
	set, err := tool.NewSet(do)
	require.NoError(t, err)
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "s", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	last := func() *journal.Fold {
		f := &journal.Follower{}
		require.NoError(t, f.Read(strings.NewReader(string(store.Text("s")))))
		fold, err := f.Last()
		require.NoError(t, err)
		return fold
	}
	var asked []string
	var was []string
	doubts := 0
	approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		asked = append(asked, q.ID)
		_, known := last().Came(q.ID)
		assert.False(t, known, "it is not answered")
		switch {
		case q.Kind == machine.AskDoubt:
			came, ok := last().Came(asked[len(asked)-2])
			assert.True(t, ok)
			assert.True(t, came.Again, "a person is asked again")
			if doubts++; doubts > 1 {
				return machine.Response{Verdict: machine.NobodyKnows}, nil
			}
			return machine.Response{Verdict: machine.RunAgain}, nil
		case strings.Contains(string(q.Arguments), "refuse"):
			return machine.Response{Verdict: machine.Refuse, Words: "No."}, nil
		}
		return machine.Response{Verdict: machine.Approve}, nil
	}
	call := func(what string) looptest.Turn {
		return looptest.Call(message.Call{ID: "c1", Name: "do", Arguments: `{"do":"` + what + `"}`})
	}
	model := looptest.NewModel(call("run"), call("fail"), call("ask"), call("refuse"), call("break"), looptest.Say("Well."))
	_, _ = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Do."}, loop.Config{Tools: set}, loop.WithApprover(approver),
		loop.WithClock(looptest.NewClock()))
	require.GreaterOrEqual(t, len(asked), 6)
	for n, id := range asked {
		came, ok := last().Came(id)
		require.True(t, ok, n)
		assert.False(t, came.Open || came.Again, n)
		assert.LessOrEqual(t, len(came.Text), 400)
		text := string(came.Verdict) + " " + strings.TrimRight(came.Text, ".…")
		if came.InDoubt {
			text += " in doubt"
		}
		was = append(was, strings.TrimSpace(text))
	}
	assert.Equal(t, []string{`done "receipt of run`, "failed The account is closed", "ask_again do: expected a verb", "",
		"broke the line broke in doubt", "broke the line broke in doubt", ""}, was)
}
