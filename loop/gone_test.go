package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/tool"
)

// Somebody removes the file of a journal while its run goes on, and another process begins the run anew. The
// first ends before it does anything else, even if a run may go on without its journal.
func TestARunEndsWhenItsJournalIsGone(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{OnError: journal.GoOn})
	require.NoError(t, err)
	defer j.Close()
	paid := 0
	tools, err := tool.NewSet(
		tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) {
			return "", os.Remove(filepath.Join(dir, journal.FileName("order-42")))
		}),
		tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { paid++; return "Paid.", nil }),
	)
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(call("look", "{}")), looptest.Call(call("pay", "{}")))
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools})
	require.ErrorIs(t, err, journal.ErrConflict)
	assert.ErrorContains(t, err, "removed or replaced while its journal was open")
	assert.Zero(t, paid)
}
