package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/canon"
)

// FuzzDecode decodes any bytes: it never panics, and what it takes is the same once it is written and read
// again.
func FuzzDecode(f *testing.F) {
	for _, raw := range records(f) {
		f.Add(raw)
	}
	for _, raw := range []string{
		`{"decision":{"effects":[{"kind":"call_model","model":{"at":[],"messages":0,"transport":1,"turn":1}}]}}`,
		`{"decision":{"effects":[{"kind":"call_model","model":{"at":null,"messages":-0,"transport":01,"turn":9223372036854775808}}]}}`,
		`{"decision":{"effects":[{"kind":"wait","wait":{"delay_ns":1,"plane":"transport","reason":"backoff","until":"2030-01-01T12:00:01.5Z"}}]}}`,
		`{"decision":{"effects":[{"decision":{"action":"","attempt":1,"delay_ns":0,"feedback":{"attempt":1,"error_type":"refusal","issues":[],` +
			`"max_attempts":2,"message":"m","next_delay_seconds":1.5,"retry_scheduled_at":"2030-01-01T12:00:01Z","source":"structured_output","tool_name":null},` +
			`"max_attempts":2,"plane":"correction","reason":"immediate","retry":true},"kind":"decided"}]}}`,
		`{"event":{"at":"2030-01-01T12:00:01+01:00","kind":"woke"}}`, `{"event":{"at":"2030-01-01T12:00:01Z","kind":"\u0001\/\"\n"}}`,
		`{"event":{"at":"2030-01-01T12:00:01Z","kind":"dispatched","reduced":{"ops":[{"kind":"append","slice":"s","values":[1,"x",{"a":[]}]}]}}}`,
		`{"event":{"at":"2030-01-01T12:00:01Z","kind":"dispatched","reduced":{"ops":[{"kind":"append","slice":"s","values":[,]}]}}}`,
	} {
		f.Add([]byte(raw))
	}
	for _, raw := range oddRecords {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		rec, err := decode(raw)
		if err != nil {
			return
		}
		written, err := canon.Marshal(rec)
		require.NoError(t, err)
		again, err := decode(written)
		require.NoError(t, err)
		rewritten, err := canon.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
	})
}

// oddRecords are not as they would have been written, though nearly so.
var oddRecords = []string{
	``, `{`, `{}`, `{"event":`, `{"event":{}}`, `"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"}},`, `{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"},}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke",}}`, `{"event":{"at":"2030-01-01T12:00:01Z""kind":"woke"}}`,
	`{"event":{,"at":"2030-01-01T12:00:01Z","kind":"woke"}}`, `{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"},"decision":{}}`, `{"decision":{"effects":[],"said":[]}}`,
	`{"event":{"at":"2030-01-01T12:00:01.50Z","kind":"woke"}}`, `{"event":{"at":"2030-01-01T12:00:01,5Z","kind":"woke"}}`,
	`{"event":{"at":"2030-01-01T12:00:01+00:00","kind":"woke"}}`, `{"event":{"at":"2030-02-30T12:00:01Z","kind":"woke"}}`,
	"{\"event\":{\"at\":\"2030-01-01T12:00:01Z\",\"kind\":\"wo\nke\"}}", "{\"event\":{\"at\":\"2030-01-01T12:00:01Z\",\"kind\":\"wo\xffke\"}}",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"\ud800"}}`, `{"event":{"at":"2030-01-01T12:00:01Z","kind":"\x"}}`, `{"event":{"at":"2030-01-01T12:00:01Z","kind":"\`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":00,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":-0,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":1.0,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":4294967296,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":1,"result": 1,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":1,"result":{"a":1,"a":2},"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":1,"result":{"b":1,"a":[1,],"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":1,"result":,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":1,"result":"a","progress":1,"verdict":"done"}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"index":1,"result":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","failure":{"class":"","plane":"","retry_after_ns":9223372036854775808},"kind":"faulted"}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"started","messages":[{"role":"user","text":""},]}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"started","messages":[{"role":"user"}{"role":"user"}]}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"started","messages":[,{"role":"user","role":"tool"}]}}`,
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"replied","reply":{"calls":[],"message":{},"native":"true"}}}`,
	`{"decision":{"effects":[{"decision":{"action":"","attempt":1,"delay_ns":0,"feedback":{"attempt":1,"error_type":"refusal","issues":[],` +
		`"max_attempts":2,"source":"structured_output","tool_name":null},"max_attempts":2,"plane":"correction","reason":"immediate","retry":true},"kind":"decided"}]}}`,
}

// records are all whole records of the journals that are kept.
func records(t testing.TB) (all [][]byte) {
	paths, err := filepath.Glob("../testdata/journals/v1/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			if _, raw, ok := cutLine(bytes.TrimSuffix(line, []byte("\n"))); ok {
				all = append(all, raw)
			}
		}
	}
	return all
}

// What is read is written again as it stood: no member is lost, and none is invented.
func TestRecordsAreWrittenAgainAsTheyStood(t *testing.T) {
	for _, raw := range records(t) {
		if rec, err := decode(raw); err == nil {
			written, err := canon.Marshal(rec)
			require.NoError(t, err)
			require.Equal(t, string(raw), string(written))
		}
	}
}
