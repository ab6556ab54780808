package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tables and plots of docs/fleet.md are what the command writes today.
func TestTheFleetsOfTheDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/fleet.md")
	require.NoError(t, err)
	files, err := filepath.Glob("../../docs/fleet/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		drawn := filepath.Join(t.TempDir(), "plot.svg")
		var out, trouble bytes.Buffer
		e := &env{out: bufio.NewWriter(&out), err: &trouble}
		require.Equal(t, exitOK, execute(e, []string{"simulate", "-compare", "-svg", drawn, name}), trouble.String())
		settings, err := os.ReadFile(name)
		require.NoError(t, err)
		short := filepath.Base(name)
		block := "```yaml " + short + "\n" + string(settings) + "```\n\n```console\n$ retake simulate -compare " + short + "\n" + out.String() + "```\n"
		assert.Contains(t, string(doc), block, "docs/fleet.md: write this instead")
		want, err := os.ReadFile(drawn)
		require.NoError(t, err)
		plot := strings.TrimSuffix(name, ".yaml") + ".svg"
		got, err := os.ReadFile(plot)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s: draw it with retake simulate -compare -svg", plot)
	}
}
