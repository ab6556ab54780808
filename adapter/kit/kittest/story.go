package kittest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// storySnapshot is the session at the end of every story, as indented JSON.
//
//go:embed testdata/snapshot.json
var storySnapshot string

var receipts = session.StateSlice[string]("receipts")

// keepReceipt is the reducer of the stories.
func keepReceipt(_ reducer.View[string], e session.ToolResultEvent) (reducer.Change[string], error) {
	var r receipt
	if err := json.Unmarshal(e.Result, &r); err != nil {
		return reducer.None[string](), err
	}
	return reducer.Append(r.Receipt), nil
}

// stories runs the loop for each script of a run, and compares requests and session with the golden ones.
func stories(t *testing.T, c Config) {
	dir, files := c.scripts(t, "story")
	require.NotEmpty(t, files, "%s: there is no story", dir)
	for _, path := range files {
		t.Run(nameOf(path), func(t *testing.T) {
			assert.Equal(t, storySnapshot, runStory(t, path, c),
				"the session differs from that of other providers")
		})
	}
}

// runStory returns the session's snapshot, indented.
func runStory(t *testing.T, path string, c Config) string {
	f := readFile(t, path)
	f.story = true
	s := serve(t, f.responses(t))
	model, err := c.New(s.URL, s.Client)
	require.NoError(t, err)
	sess, err := session.New(session.Config{
		ID: "order-42", Slices: []session.Declared{receipts},
		Reducers: []session.Reducer{session.On(receipts, session.EventToolResult, "receipts.keep",
			keepReceipt)},
	})
	require.NoError(t, err)
	tools, err := tool.NewSet(BookRoom())
	require.NoError(t, err)

	opts := []loop.Option{loop.WithClock(looptest.NewClock())}
	var streamed strings.Builder
	stream := f.section("ask") != nil && f.ask(t).Stream
	if stream {
		opts = append(opts, loop.WithStream(func(d loop.Delta) { streamed.WriteString(d.Text) }))
	}
	l, err := loop.New(model, loop.Config{System: system, Tools: tools}, opts...)
	require.NoError(t, err)
	result, err := l.Run(t.Context(), sess, loop.Input{Prompt: prompt.Text})
	s.finish()
	require.NoError(t, err)
	f.compare(t, s.Requests(), "")
	assert.Equal(t, "Booked: R-lisbon-2 and R-porto-3.", result.Text)
	if stream {
		assert.Contains(t, streamed.String(), result.Text)
	}
	return snapshot(t, sess)
}

func snapshot(t testing.TB, s *session.Session) string {
	raw, err := s.State().Snapshot()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, raw, "", "  "))
	return b.String() + "\n"
}
