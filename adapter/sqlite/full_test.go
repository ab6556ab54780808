package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	driver "modernc.org/sqlite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// Where there is no more room, the error says on whose disk, as that of a folder does.
func TestAFullDiskIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	log, err := s.Open(t.Context(), "order-42")
	require.NoError(t, err)
	_, err = s.db.ExecContext(t.Context(), `PRAGMA max_page_count = 1`)
	require.NoError(t, err)
	line := append(make([]byte, 1<<16), '\n')
	body := []byte(`"` + strings.Repeat("x", 1<<16) + `"`)
	for name, err := range map[string]error{
		"a journal": log.Append(t.Context(), 0, line, true),
		"an inbox": s.Put(t.Context(), "order-42", journal.Item{Kind: journal.AnswerItem, Key: "q1", Body: body,
			At: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}),
	} {
		require.ErrorIs(t, err, syscall.ENOSPC, name)
		require.ErrorContains(t, err, `session "order-42": the disk of `+path+` is full: `, name)
		_, is := errors.AsType[*driver.Error](err)
		assert.True(t, is, name)
	}
	_, err = s.db.ExecContext(t.Context(), `PRAGMA max_page_count = 1000000`)
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, line, true), "there is room again")
	require.NoError(t, log.Close())
}
