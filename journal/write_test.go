package journal

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// requireSame holds the quick way of writing a record to the library's.
func requireSame(t require.TestingT, rec *Record) (common bool) {
	want, wrong := canon.Marshal(rec)
	w := writer{b: []byte("x")}
	for range 2 {
		from := len(w.b)
		if common = quickly(&w, rec); !common {
			return false
		}
		require.NoError(t, wrong, "what the library refuses is left to it")
		require.Equal(t, string(want), string(w.b[from:]), "the second time with what is kept of the first")
	}
	return true
}

// quickly writes an event or a decision without the library.
func quickly(w *writer, rec *Record) bool {
	switch {
	case rec.Event != nil:
		return w.eventQuickly(rec.Event)
	case rec.Decision != nil:
		return w.decisionQuickly(rec.Decision, nil)
	}
	return false
}

// lines are all whole records of the journals that are kept.
func lines(t testing.TB) (all [][]byte) {
	paths, err := filepath.Glob("../testdata/journals/v1/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		f, err := os.Open(path)
		require.NoError(t, err)
		for in := bufio.NewScanner(f); in.Scan(); {
			if _, raw, ok := cutLine(in.Bytes()); ok {
				all = append(all, append([]byte(nil), raw...))
			}
		}
		f.Close()
	}
	return all
}

func TestKeptJournalsAreWrittenTheQuickWayAsTheyWere(t *testing.T) {
	quick, slow := 0, 0
	var d decoder
	for _, raw := range lines(t) {
		var rec Record
		if canon.UnmarshalKnown(raw, &rec) != nil {
			continue // one that a test expects to be unreadable
		}
		if requireSame(t, &rec) {
			quick++
		} else if rec.Event != nil || rec.Decision != nil {
			slow++
		}
		if read, ok := d.quickly(raw); ok {
			require.Equal(t, rec, read)
		} else if rec.Event != nil {
			assert.True(t, rec.Event.Adjust != nil || rec.Event.Plan != nil, "%s", raw)
		} else if rec.Decision != nil {
			assert.Contains(t, string(raw), `"consultation":`)
		}
	}
	assert.Greater(t, quick, 20*slow, "the quick way is for nearly all")
}

// fill gives a value of any of the types of a record members drawn at random: also those that were added since.
func fill(t *rapid.T, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		at := time.Unix(rapid.Int64Range(-62_000_000_000, 250_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		v.Set(reflect.ValueOf(at.UTC()))
		return
	case json.RawMessage:
		raws := []string{`{"a":1}`, `{"b":1,"a":[2,"é"]}`, ` 1`, `"x"`, `null`, `nope`, `1.50`}
		if rapid.IntRange(0, 9).Draw(t, "raw?") > 0 {
			v.SetBytes([]byte(rapid.SampledFrom(raws).Draw(t, "raw")))
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 7 && rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if f := v.Type().Field(n); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(t, v.Field(n), depth+1)
			}
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(t, "entries"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for n := range v.Len() {
			fill(t, v.Index(n), depth+1)
		}
	case reflect.String:
		texts := []string{"", "tool", "structured_output", "book_room", `a "b" \ <c> é` + "\u2028\n", "\xff"}
		v.SetString(rapid.SampledFrom(texts[:rapid.IntRange(1, len(texts)).Draw(t, "of")]).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, 2, -1, 1_500_000_000, 1 << 60}).Draw(t, "number"))
	}
}

func TestAnyRecordIsWrittenTheQuickWayAsTheLibraryWritesIt(t *testing.T) {
	quick, again, all := 0, 0, 0
	var d decoder
	rapid.Check(t, func(t *rapid.T) {
		all++
		var rec Record
		if rapid.Bool().Draw(t, "event?") {
			rec.Event = &Event{}
			fill(t, reflect.ValueOf(rec.Event).Elem(), 2)
			if rapid.IntRange(0, 9).Draw(t, "adjust?") > 0 {
				rec.Event.Adjust = nil
			}
		} else {
			rec.Decision = &Decision{}
			fill(t, reflect.ValueOf(rec.Decision).Elem(), 2)
		}
		if !requireSame(t, &rec) {
			return
		}
		quick++
		raw, err := canon.Marshal(rec)
		require.NoError(t, err)
		if read, ok := d.quickly(raw); ok {
			var want Record
			require.NoError(t, canon.UnmarshalKnown(raw, &want))
			require.Equal(t, want, read)
			again++
		}
	})
	assert.Greater(t, quick, all/10, "many are common")
	assert.Greater(t, again, quick/2, "most of them are read the quick way")
}

// TestEveryFieldIsWritten sets each field of the types of a record alone: a field that the quick way forgets fails here.
func TestEveryFieldIsWritten(t *testing.T) {
	for name, of := range map[string]func() (*Record, reflect.Value){
		"event": func() (*Record, reflect.Value) {
			rec := &Record{Event: &Event{At: time.Unix(0, 0).UTC()}}
			return rec, reflect.ValueOf(rec.Event).Elem()
		},
		"decision": func() (*Record, reflect.Value) {
			rec := &Record{Decision: &Decision{}}
			return rec, reflect.ValueOf(rec.Decision).Elem()
		},
		"effect": func() (*Record, reflect.Value) {
			rec := &Record{Decision: &Decision{Effects: make([]machine.Effect, 1)}}
			return rec, reflect.ValueOf(&rec.Decision.Effects[0]).Elem()
		},
	} {
		t.Run(name, func(t *testing.T) { setEach(t, of, nil) })
	}
}

// setEach sets each field below the one at path, one at a time.
func setEach(t *testing.T, of func() (*Record, reflect.Value), path []int) {
	rec, v := of()
	v = at(v, path)
	switch v.Kind() {
	case reflect.Struct:
		if _, is := v.Interface().(time.Time); is {
			break
		}
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				setEach(t, of, append(path[:len(path):len(path)], n))
			}
		}
		return
	case reflect.Pointer:
		if len(path) < 6 {
			setEach(t, of, append(path[:len(path):len(path)], 0))
		}
		return
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			if len(path) < 6 {
				setEach(t, of, append(path[:len(path):len(path)], 0))
			}
			return
		}
		v.SetBytes([]byte(`1`))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	}
	requireSame(t, rec)
}

// at walks a path, and makes what is not there on the way.
func at(v reflect.Value, path []int) reflect.Value {
	for _, n := range path {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			if f, ok := v.Interface().(*feedback.RetryFeedback); ok && f.Source == "" {
				*f = feedback.RetryFeedback{Source: feedback.Tool, Attempt: 1, MaxAttempts: 1, ErrorType: "x"}
			}
			v = v.Elem()
		case reflect.Slice:
			if v.Len() == 0 {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			}
			v = v.Index(0)
		default:
			v = v.Field(n)
		}
	}
	return v
}
