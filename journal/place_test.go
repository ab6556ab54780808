package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who opened a file before it was compacted, and locks it after, holds what nobody reads any more.
func TestAFileThatWasReplacedIsNotHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName("order-42"))
	old, err := openLocked(path, "order-42")
	require.NoError(t, err)
	defer old.Close()
	require.NoError(t, inPlace(old, path))
	require.NoError(t, os.Rename(path, path+".old"))
	assert.ErrorIs(t, inPlace(old, path), errLocked)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	assert.ErrorIs(t, inPlace(old, path), errLocked)
}
