package console_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// A run that has given up shows what was wrong, and can be given a hint.
func TestTheInboxAsksWhatIsToFollow(t *testing.T) {
	store, dir := &looptest.Store{}, t.TempDir()
	j, err := journal.Open(t.Context(), store, "stuck", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "stuck", Journal: j})
	require.NoError(t, err)
	ladder := planner.Ladder{}
	ladder.Ask = time.Hour
	var text []byte
	_, err = fixture.Generate[fixture.Receipt](t.Context(), looptest.NewModel(fixture.Repeat(looptest.Say("no"), 3)...), s, loop.Input{Prompt: "Book."}, loop.Config{},
		loop.WithPlanner(ladder), loop.WithClock(looptest.NewClock()),
		loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
			text = store.Text("stuck")
			return machine.Response{}, errors.New("nobody is here")
		}))
	require.ErrorContains(t, err, "nobody is here")
	put(t, dir, "stuck.jsonl", text)
	c := open(t, dir, soonAfter)
	page := body(t, ask(t, c, "GET", "/inbox"))
	for _, want := range []string{"the answer gave up: what is to follow?", "structured output, at attempt 3 (attempts used up)", `value="go_on"`, `value="end"`, "ended at 2030-01-01 01:00:00 UTC"} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "<dt>arguments")
	assert.Contains(t, body(t, ask(t, c, "GET", "/api/sessions?state=asking")), `the answer gave up: structured output, expected an object with the member number. Go on, or end? By `)
}
