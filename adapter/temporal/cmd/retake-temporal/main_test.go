package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

const histories = "../../testdata/histories/"

func command(t *testing.T, in string, args ...string) (status int, out, trouble string) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, strings.NewReader(in), &o, &e)
	return status, o.String(), e.String()
}

func TestExport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	status, out, trouble := command(t, "", "export", "-history", histories+"all_there_is.1.json", "-history", histories+"all_there_is.2.json",
		"-history", histories+"all_there_is.3.json", "-out", file)
	require.Equal(t, exitOK, status, trouble)
	assert.Empty(t, out)
	doc, err := os.ReadFile(file)
	require.NoError(t, err)
	report, err := journal.Replay(bytes.NewReader(doc), nil)
	require.NoError(t, err)
	assert.True(t, report.Ended)
	assert.Equal(t, "all_there_is", report.Session)
}

func TestExportReadsTheInputAndWritesTheOutput(t *testing.T) {
	doc, err := os.ReadFile(histories + "broken_replies.json")
	require.NoError(t, err)
	status, out, trouble := command(t, string(doc), "export", "-history", "-")
	require.Equal(t, exitOK, status, trouble)
	assert.True(t, strings.HasPrefix(out, "{"), out)
}

func TestReplay(t *testing.T) {
	status, out, trouble := command(t, "", "replay", "-history", histories+"broken_replies.json")
	assert.Equal(t, exitOK, status, trouble)
	assert.Contains(t, out, "same decisions (histories: 1, ")

	doc, err := os.ReadFile(histories + "broken_replies.json")
	require.NoError(t, err)
	changed := strings.Replace(string(doc), "EVENT_TYPE_TIMER_STARTED", "EVENT_TYPE_TIMER_CANCELED", 1)
	require.NotEqual(t, string(doc), changed)
	status, _, trouble = command(t, changed, "replay", "-history", "-")
	assert.Equal(t, exitDiffers, status)
	assert.Contains(t, trouble, "the replay differs")
}

func TestMistakesAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"nothing":        {nil, "a command is missing: use export or replay"},
		"unknown":        {[]string{"explode"}, `there is no command "explode"`},
		"no_source":      {[]string{"export"}, "-history is missing"},
		"two_sources":    {[]string{"export", "-history", "x", "-id", "y"}, "use either files, or -address and -id"},
		"no_id":          {[]string{"replay", "-address", "127.0.0.1:1"}, "-history is missing"},
		"bare":           {[]string{"export", "run.json"}, `unexpected argument "run.json"`},
		"missing_file":   {[]string{"export", "-history", "missing.json"}, "-history missing.json: "},
		"middle_missing": {[]string{"export", "-history", histories + "all_there_is.2.json"}, "the histories lack the beginning of the run"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, trouble := command(t, "", tt.args...)
			assert.Equal(t, exitTrouble, status)
			assert.Contains(t, trouble, tt.want)
		})
	}
	status, _, trouble := command(t, "[]", "export", "-history", "-")
	assert.Equal(t, exitTrouble, status)
	assert.Contains(t, trouble, "-history -: ")
	status, out, _ := command(t, "", "-h")
	assert.Equal(t, exitOK, status)
	assert.Contains(t, out, "retake-temporal export")
}
