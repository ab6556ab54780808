package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// A journal may be larger than any text.
func TestAJournalIsNotReadWhole(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(t.Context(), dir, "large", journal.Settings{Sync: journal.SyncNever})
	require.NoError(t, err)
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Auth, StatusCode: 401}))
	l, err := loop.New(model, loop.Config{})
	require.NoError(t, err)
	_, err = l.Run(t.Context(), s, loop.Input{Prompt: strings.Repeat("x", maxInput)})
	require.Error(t, err)
	require.NoError(t, j.Close())
	file := filepath.Join(string(dir), journal.FileName("large"))
	assert.Contains(t, retake(t, "classify", file), "auth")
	policies := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(policies, "two.yaml"), []byte("max_attempts: 2"), 0o600))
	assert.Contains(t, retake(t, "tune", "-policies", policies, "-corpus", file), "two                   1        0")
}
