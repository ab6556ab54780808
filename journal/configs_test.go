package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

// Followers that share their configs know the same of each journal as those that do not, and refuse the same,
// but for the system prompts of calls.
func TestSharedConfigsChangeNothing(t *testing.T) {
	files, err := filepath.Glob("../testdata/journals/v1/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var shared journal.Configs
	for range 2 { // the second time all of them are known
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			alone, together := new(journal.Follower), &journal.Follower{Configs: &shared}
			wrongAlone, wrong := alone.Read(bytes.NewReader(text)), together.Read(bytes.NewReader(text))
			require.Equal(t, wrongAlone, wrong, file)
			if wrong != nil {
				continue
			}
			was, wrongAlone := alone.Last()
			is, wrong := together.Last()
			require.Equal(t, wrongAlone, wrong, file)
			require.Equal(t, was.Header, is.Header, file)
			require.Equal(t, snapshotOf(t, &was.State), snapshotOf(t, &is.State), file)
			for _, f := range []*journal.Fold{was, is} {
				if f.Asked.Model != nil {
					f.Asked.Model.System = ""
				}
			}
			require.Equal(t, was.Asked, is.Asked, file)
		}
	}
}

func snapshotOf(t *testing.T, st *machine.State) string {
	if st.Config == nil {
		return ""
	}
	text, err := st.Snapshot()
	require.NoError(t, err)
	return string(text)
}

// A run has its own request, seed and deadline, and what is wrong with a header is said as ever.
func TestAConfigIsSharedByRunsOfAnyRequest(t *testing.T) {
	const head = `{"header":{"config":{%s"policy":{"budgets":{"tool":4,"run":8,"unknown_tools":2},"max_turns":100,` +
		`"max_calls":128,"all_or_nothing":false},"limits":{"max_issues":20,"max_bytes":4096}},` +
		`"format":"retake.journal/1","session":"s"%s}}`
	for _, c := range []struct {
		config, rest string
		shares       bool
	}{
		{"", "", true},
		{`"request_id":"r1","seed":"7","deadline":"2026-01-02T03:04:05Z",`, "", true},
		{`"request_id":"r2",`, "", true},
		{`"request_id":"\u0000",`, "", false},
		{`"deadline":"soon",`, "", false},
		{`"seed":"7","seed":"8",`, "", false},
		{`"nobody_knows":1,`, "", false},
		{`"system":"{{",`, "", false},
		{"", `,"nobody_knows":1`, false},
		{"", `,"config":{}`, false},
	} {
		var configs journal.Configs
		for range 2 {
			is, was, shared, err, want := configs.Headers(fmt.Appendf(nil, head, c.config, c.rest))
			require.Equal(t, want, err, c)
			require.Equal(t, was, is, c)
			require.Equal(t, c.shares, shared, c)
		}
	}
}

// A run has its own config and not that of the run that was read before it.
func TestARunHasItsOwnConfigAfterTheJournalWasOpened(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	for attempts := 1; attempts <= 3; attempts++ {
		j, err := journal.Open(t.Context(), dir, "s", journal.Settings{Redact: &journal.Redaction{Replies: true}})
		require.NoError(t, err)
		set := policy.DefaultSet()
		set.Answer.MaxAttempts = &attempts
		model := looptest.NewModel(fixture.Repeat(looptest.Say(""), 4)...)
		_, err = fixture.Run(t.Context(), model, fixture.In(nil, j), loop.Input{Prompt: "Hi.", NewConversation: true}, loop.Config{Policy: &set},
			loop.WithClock(looptest.NewClock()))
		require.Error(t, err)
		require.Len(t, model.Requests(), attempts)
		require.NoError(t, j.Close())
	}
	in, err := dir.Peek(t.Context(), "s")
	require.NoError(t, err)
	defer in.Close()
	report, err := journal.Replay(in, nil)
	require.NoError(t, err)
	require.EqualValues(t, 3, report.Runs)
}
