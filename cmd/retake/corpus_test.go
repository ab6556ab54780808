package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/corpus"
	"github.com/retake-go/retake/message"
)

// corpusFile is the file of real replies that RETAKE_CORPUS names.
func corpusFile(t *testing.T) string {
	path := os.Getenv("RETAKE_CORPUS")
	if path == "" {
		t.Skip("RETAKE_CORPUS is not set: it names the directory of the corpus, or its file")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "bfcl_dev.jsonl")
	}
	return path
}

// retake runs one command line in this process.
func retake(t *testing.T, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	e := &env{in: strings.NewReader(""), out: bufio.NewWriter(&out), err: &trouble}
	require.Equal(t, exitOK, execute(e, args), trouble.String())
	return out.String()
}

// judged is a line of the corpus with the members that only tests need.
type judged struct {
	ID      string `json:"id"`
	Replies []struct {
		Text  string            `json:"text"`
		Calls []json.RawMessage `json:"tool_calls"`
		Valid bool              `json:"schema_valid"`
	} `json:"replies"`
	Ladder []int `json:"ladder"`
}

func readJudged(t *testing.T, file string) []judged {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var all []judged
	for d := json.NewDecoder(f); ; {
		var j judged
		err := d.Decode(&j)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, j)
	}
}

func readVerdicts(t *testing.T, out string) []corpusVerdict {
	var all []corpusVerdict
	for line := range strings.Lines(out) {
		var v corpusVerdict
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		all = append(all, v)
	}
	return all
}

// The corpus has the verdicts of another validator on native calls. check agrees with each.
func TestCheckAgreesWithTheCorpus(t *testing.T) {
	file := corpusFile(t)
	verdicts := readVerdicts(t, retake(t, "check", "-corpus", file, "-fail-on", "none", "-json"))
	native, texts, good, at := 0, 0, 0, 0
	for _, q := range readJudged(t, file) {
		for n, r := range q.Replies {
			v := verdicts[at]
			at++
			require.Equal(t, q.ID, v.Question)
			require.Equal(t, n, v.Reply)
			require.Equal(t, v.OK, v.Feedback == "" && v.Class == "" && v.Issues == nil)
			switch {
			case r.Calls != nil:
				native++
				assert.Equal(t, r.Valid, v.OK, "%s/%d", q.ID, n)
			default:
				texts++
				good += len(v.Calls) * map[bool]int{true: 1}[v.OK] / max(len(v.Calls), 1)
			}
		}
	}
	require.Len(t, verdicts, at)
	assert.Greater(t, good*10, texts*9)
	t.Logf("%d native replies, %d in text, %d of these with good calls only", native, texts, good)
}

// Each run gives the same answer, and every session succeeds with the last reply of its ladder.
func TestRunOfTheCorpus(t *testing.T) {
	file := corpusFile(t)
	first := retake(t, "play", "-fail-on", "none", "-corpus", file, "-seed", "s", "-json")
	assert.Equal(t, first, retake(t, "play", "-fail-on", "none", "-corpus", file, "-seed", "s", "-json"))
	var s corpus.Summary
	require.NoError(t, json.Unmarshal([]byte(first), &s))
	questions := readJudged(t, file)
	assert.Equal(t, len(questions), s.Sessions)
	assert.Equal(t, s.Sessions, s.Succeeded)
	bad := 0
	for _, q := range questions {
		bad += len(q.Ladder) - 1
	}
	assert.Equal(t, bad, s.Feedback)
	t.Log(first)
}

// The feedback to the model names every failing argument. With -v the test shows the prompts.
func TestFeedbackOfTheCorpusNamesWhatFailed(t *testing.T) {
	f, err := os.Open(corpusFile(t))
	require.NoError(t, err)
	defer f.Close()
	shown := 0
	for q, err := range corpus.Read("corpus", f) {
		require.NoError(t, err)
		if len(q.Ladder) < 2 {
			continue
		}
		p, err := corpus.Config{}.Play(t.Context(), q)
		require.NoError(t, err)
		last := p.State.Transcript()[len(p.State.Transcript())-1]
		require.Equal(t, message.Assistant, last.Role)
		var told strings.Builder
		for _, m := range p.State.Transcript() {
			if m.IsError || m.Role == message.User {
				told.WriteString(m.Text)
			}
			if shown < 20 {
				t.Logf("%s: %s%v", m.Role, m.Text, m.Calls)
			}
		}
		for _, fb := range p.State.Session.Feedback() {
			for _, i := range fb.Issues {
				wanted, ok := i.Allowed()
				if !ok {
					wanted = i.Wanted()
				}
				if i.Rule != fault.RuleNoCall {
					assert.Contains(t, told.String(), wanted, q.ID)
				}
				named := i.Pointer == "" || strings.Contains(told.String(), i.Place()) || strings.Contains(told.String(), strconv.Quote(i.Place()))
				assert.True(t, named, "%s: %q is not named in %s", q.ID, i.Place(), told.String())
			}
		}
		shown++
	}
	require.Positive(t, shown)
}
