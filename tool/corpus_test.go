package tool_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

type corpusLine struct {
	ID    string `json:"id"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Replies []struct {
		Model       string `json:"model"`
		Text        string `json:"text"`
		SchemaValid *bool  `json:"schema_valid"`
		ToolCalls   []struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"tool_calls"`
	} `json:"replies"`
}

func corpus(t *testing.T) []corpusLine {
	path := os.Getenv("RETAKE_CORPUS")
	if path == "" {
		t.Skip("RETAKE_CORPUS is not set: it names the directory of the corpus, or its file")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "bfcl_dev.jsonl")
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var lines []corpusLine
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var l corpusLine
		require.NoError(t, json.Unmarshal(in.Bytes(), &l))
		lines = append(lines, l)
	}
	require.NoError(t, in.Err())
	return lines
}

func corpusSet(t *testing.T, l corpusLine) *tool.Set {
	var tools []*tool.Tool
	for _, d := range l.Tools {
		raw, err := tool.Raw(d.Name, d.Description, d.Parameters, func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		require.NoError(t, err, l.ID)
		tools = append(tools, raw)
	}
	set, err := tool.NewSet(tools...)
	require.NoError(t, err, l.ID)
	return set
}

// An independent validator judged the native calls of the corpus; every verdict must be ours too.
func TestNativeVerdictsOfTheCorpus(t *testing.T) {
	replies, invalid := 0, 0
	for _, l := range corpus(t) {
		set := corpusSet(t, l)
		for _, r := range l.Replies {
			if r.SchemaValid == nil {
				continue
			}
			var reply message.Reply
			for _, c := range r.ToolCalls {
				reply.Calls = append(reply.Calls, message.Call{Name: c.Name, Arguments: c.Arguments})
			}
			good := true
			var issues []any
			reading := set.Read(reply, defaults())
			for _, c := range reading.Calls {
				good = good && c.Good()
				issues = append(issues, c.Class, c.Issues)
			}
			replies++
			if !*r.SchemaValid {
				invalid++
			}
			if good != *r.SchemaValid {
				t.Errorf("%s %s: judged %v, want %v: %v %v", l.ID, r.Model, good, *r.SchemaValid, reply.Calls, issues)
			}
		}
	}
	t.Logf("%d native replies, %d of them invalid", replies, invalid)
}

// Counts the replies in text whose calls are all good.
func TestTextRepliesOfTheCorpus(t *testing.T) {
	replies, good := 0, 0
	for _, l := range corpus(t) {
		set := corpusSet(t, l)
		for _, r := range l.Replies {
			if r.SchemaValid != nil {
				continue
			}
			replies++
			reading := set.Read(message.Reply{Text: r.Text}, defaults())
			all := len(reading.Calls) > 0
			for _, c := range reading.Calls {
				all = all && c.Good()
				require.Equal(t, c.Good(), len(c.Issues) == 0)
			}
			if all {
				good++
			}
		}
	}
	t.Logf("%d text replies, %d with good calls only", replies, good)
	require.Greater(t, good, replies*96/100)
}
