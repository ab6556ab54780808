package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/canon"
)

// strange are records that no writer makes, with their fault; empty for none.
var strange = map[string]string{
	``:   "not strict JSON",
	`{}`: "must have one of header, event, decision, note, snapshot",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"},"decision":{}}`:                         "must have one of",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"}} `:                                      "",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke"}}}`:                                      "trailing_data",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke","kind":"woke"}}`:                         "a duplicate name at /event/kind",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke","mood":1}}`:                              "member /event/mood is unknown",
	`{"event":{"at":"2030-01-01T12:00:01Z","Kind":"woke"}}`:                                       "member /event/Kind is unknown",
	`{"event":{"at":"2030-02-30T12:00:01Z","kind":"woke"}}`:                                       "value at /event/at does not fit",
	"{\"event\":{\"at\":\"2030-01-01T12:00:01Z\",\"kind\":\"\xff\"}}":                             "invalid_utf8",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke","tool":{"index":1.5}}}`:                  "value at /event/tool/index does not fit",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"woke","tool":{"index":9223372036854775808}}}`:  "value at /event/tool/index",
	`{"event":{"at":"2030-01-01T12:00:01Z","kind":"tool_ended","tool":{"result":{"a":1,"a":2}}}}`: "a duplicate name at",
	`{"note":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`:                        "nested deeper than 512",
	`{"header":{"format":"retake.journal/9"}}`:                                                    `"retake.journal/9", which a later version writes`,
	`{"header":{"format":"retake.journal/9","mood":1}}`:                                           `"retake.journal/9", which a later version writes`,
	`{"header":{"format":"diary/2"}}`:                                                             `its format is "diary/2": only`,
	`{"decision":{"effects":[{"kind":"sing"}]}}`:                                                  `effect 1 of its record has the unknown kind "sing"`,
	`{"note":{"kind":"landed","key":"k"}}`:                                                        "a result that landed, without the end",
	`{"decision":{"effects":[{"kind":"wait"}]}}`:                                                  `effect 1 of its record is "wait" without its payload`,
}

func TestRecordsAreReadStrictly(t *testing.T) {
	for raw, wrong := range strange {
		_, err := decode([]byte(raw))
		if wrong == "" {
			assert.NoError(t, err, raw)
		} else {
			assert.ErrorContains(t, err, wrong, raw)
		}
	}
}

// FuzzDecode decodes any bytes. It never panics, and an accepted record is the same after it was written
// and read again.
func FuzzDecode(f *testing.F) {
	for _, raw := range records(f) {
		f.Add(raw)
	}
	for raw := range strange {
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

// records are all valid records of testdata.
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

// A record that is read and written is unchanged: no member is lost or added.
func TestRecordsAreWrittenAgainAsTheyStood(t *testing.T) {
	for _, raw := range records(t) {
		if rec, err := decode(raw); err == nil {
			written, err := canon.AppendDeclared(nil, rec)
			require.NoError(t, err)
			if sorted, err := canon.JSON(raw); err == nil && bytes.Equal(sorted, raw) { // that of sorted.jsonl
				written, err = canon.JSON(written)
				require.NoError(t, err)
			}
			require.Equal(t, string(raw), string(written))
		}
	}
}
