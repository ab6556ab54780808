package eino_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// What reducers, events and progress are in a run of the loop, they are under Eino.
func TestReducersAndProgressAreAsInARun(t *testing.T) {
	const key = "sk-0123456789abcdef0123456789abcdef"
	for name, refuse := range map[string]func() error{
		"error": func() error { return errors.New("no room for " + key) },
		"panic": func() error { panic("no room for " + key) },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{rooms}, Reducers: []session.Reducer{
				session.On(rooms, "ordered", "guard", func(reducer.View[string], any) (reducer.Change[string], error) {
					return reducer.Change[string]{}, refuse()
				}),
			}})
			require.NoError(t, err)
			var progress []string
			book := bookRoom(t, func(ctx context.Context, b booking) (receipt, error) {
				last := ""
				tool.LastProgress(ctx, &last)
				progress = append(progress, last)
				require.NoError(t, tool.Progress(ctx, "half"))
				if len(progress) == 1 {
					return receipt{}, tool.AskAgain(fault.Issue{Pointer: "/nights", Rule: "minimum", Expected: "at least 3", Source: fault.FromTool})
				}
				require.NoError(t, tool.Emit(ctx, "oredred", 1))
				return receipt{b.City}, tool.Emit(ctx, "ordered", 1)
			})
			a, _ := newAdapter(t, eino.Config{})
			m := newFake(calls(toolCall("c1", "book_room", goodArgs)), calls(toolCall("c2", "book_room", goodArgs)), say("Full."))
			conf := agentConfig(m, book)
			require.NoError(t, a.Agent(conf))
			ctx, run, err := a.Start(t.Context(), s)
			require.NoError(t, err)
			_, err = play(ctx, t, conf, false)
			require.NoError(t, err)
			result, err := run.End()
			require.NoError(t, err)
			assert.Equal(t, []string{"", "half"}, progress, "it reaches the call that corrects")
			warned := strings.Join(result.Warnings, "\n")
			assert.NotContains(t, warned, key)
			assert.Contains(t, warned, `the event "oredred", which no reducer hears`)
			assert.Contains(t, warned, "what followed from its result was refused")
			var told strings.Builder
			for _, msg := range m.requests()[2] {
				told.WriteString(msg.Content)
			}
			assert.NotContains(t, told.String(), key)
			assert.Contains(t, told.String(), `{"booked":"Lisbon"}`, "the tool ran, and its result is told")
			if name == "panic" {
				assert.NotContains(t, told.String(), "no room")
			}
			require.Len(t, s.State().ReducerErrors(), 1)
			assert.NotContains(t, s.State().ReducerErrors()[0].Message, key)
		})
	}
}
