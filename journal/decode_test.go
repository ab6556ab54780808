package journal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/canon"
)

// FuzzDecode holds the quick way of reading a record to the library's: it takes nothing that the library refuses, and reads nothing else.
func FuzzDecode(f *testing.F) {
	for _, raw := range lines(f) {
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
	var d decoder
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, ok := d.quickly(raw)
		if !ok {
			return
		}
		var want Record
		require.NoError(t, canon.UnmarshalKnown(raw, &want))
		require.Equal(t, want, read)
	})
}
