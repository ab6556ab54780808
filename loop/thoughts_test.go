package loop_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
)

// A server that does not know the thoughts of its model returns them as a part of the text. They are no part
// of the answer, but of what the model said: some models want them back.
func TestThoughtsBeforeAnAnswerAreNoPartOfIt(t *testing.T) {
	const said = "<think>\nThe capital of France.\n</think>\n\nParis"
	s := answers(t)
	r, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say(said)), s, loop.Input{Prompt: "Which city?"}, loop.Config{})
	require.NoError(t, err)
	assert.Equal(t, "Paris", r.Text)
	assert.Equal(t, []string{"Paris"}, values(t, s, "answers"))
	assert.Equal(t, said, r.Transcript[len(r.Transcript)-1].Text)

	summary, _, err := loop.SummaryBy(looptest.NewModel(looptest.Say(said)), "")(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "Paris", summary)
}
