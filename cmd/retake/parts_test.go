package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

// Nobody types at the null device: nothing is said about the end of the input, and no progress is shown.
func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	assert.False(t, isTerminal(null))
	require.NoError(t, null.Close())
	assert.False(t, isTerminal(null), "a closed file")
}

// What comes out of inOrder is what went in, in its order, up to the first error.
func TestInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 50).Draw(t, "items")
		broken := rapid.IntRange(0, 60).Draw(t, "broken")
		where := rapid.SampledFrom([]string{"items", "work", "use"}).Draw(t, "where")
		boom := errors.New("boom")
		failAt := func(place string, i int) error {
			if place == where && i == broken {
				return boom
			}
			return nil
		}
		var items iter.Seq2[int, error] = func(yield func(int, error) bool) {
			for i := range n {
				if !yield(i, failAt("items", i)) {
					return
				}
			}
		}
		var got []int
		err := inOrder(items, func(i int) (int, error) { return i, failAt("work", i) }, func(i int) error {
			if err := failAt("use", i); err != nil {
				return err
			}
			got = append(got, i)
			return nil
		})
		want := slices.Collect(func(yield func(int) bool) {
			for i := range min(n, broken) {
				if !yield(i) {
					return
				}
			}
		})
		require.Equal(t, want, got)
		require.Equal(t, broken < n, err != nil)
	})
}

func TestCutText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		num, den := rapid.Int64Range(1, 100).Draw(t, "num"), rapid.Int64Range(100, 200).Draw(t, "den")
		cut := cutText(text, big.NewRat(num, den))
		require.True(t, strings.HasPrefix(text, cut))
		g := new(big.Rat).SetInt64(int64(utf8.RuneCountInString(text)))
		g.Mul(g, big.NewRat(num, den))
		require.Equal(t, new(big.Int).Quo(g.Num(), g.Denom()).Int64(), int64(utf8.RuneCountInString(cut)))
	})
	// As a float, 0.29 of 100 would be 28.
	share, _ := new(big.Rat).SetString("0.29")
	assert.Len(t, cutText(strings.Repeat("a", 100), share), 29)
}

func TestMilliseconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0"}, {1, "0.000001"}, {500 * time.Millisecond, "500"}, {250 * time.Microsecond, "0.25"},
		{time.Second + 1, "1000.000001"}, {1<<63 - 1, "9223372036854.775807"},
	} {
		assert.Equal(t, c.want, string(milliseconds(c.d)))
	}
}

// The waits shown for a seed are those that loop.Do makes.
func TestDelaysAreThoseOfDo(t *testing.T) {
	for _, c := range []struct {
		preset string
		err    error
	}{
		{"rate-limit", fault.AsError(fault.Response{Status: 429})},
		{"provider", fault.AsError(fault.Response{Status: 503})},
	} {
		t.Run(strings.ReplaceAll(c.preset, "-", "_"), func(t *testing.T) {
			a := loop.FinalAnswer()
			a.Transport, _ = policy.Preset(c.preset)
			a.Seed = "s"
			var waits []json.Number
			note := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
				if n.Kind == observe.Retrying {
					waits = append(waits, milliseconds(n.Delay))
				}
			})
			try := func(context.Context, loop.Attempt) (int, error) { return 0, c.err }
			_, err := loop.Do(t.Context(), nil, a, try, loop.WithClock(looptest.NewClock()), loop.WithObserver(note))
			require.ErrorIs(t, err, policy.AttemptsExhausted)

			var shown schedule
			require.NoError(t, json.Unmarshal([]byte(retake(t, "delays", "-policy", "preset:"+c.preset, "-seed", "s", "-json")), &shown))
			var delays []json.Number
			for _, d := range shown.Delays {
				delays = append(delays, d.Delay)
			}
			assert.Equal(t, waits, delays)
		})
	}
}

func TestTextForTerminals(t *testing.T) {
	assert.Equal(t, "\x1b[31mno\x1b[0m", paint(true).red("no"))
	assert.Equal(t, "no", paint(false).red("no"))
	assert.Equal(t, "a\uFFFD[31mb", plain("a\x1b[31mb"))
}

func TestProgressIsForThoseWhoWatch(t *testing.T) {
	for _, watched := range []bool{true, false} {
		var shown bytes.Buffer
		p := progressOf(&env{err: &shown, watched: watched}, "replies")
		for range 2 * progressEvery {
			p.step()
		}
		p.done()
		assert.Equal(t, watched, strings.Contains(shown.String(), "1000 replies"))
	}
}

func TestInputThatBreaksOff(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := readAll("standard input", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	for _, err := range lines("corpus", iotest.ErrReader(broken), 0) {
		require.ErrorIs(t, err, broken)
	}
}

func FuzzSplitResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 429\r\na: b\r\n\r\n{}"))
	f.Add([]byte("\ufeff{\"a\": 1}"))
	f.Add([]byte(": x\nno header\n\n a : b "))
	f.Fuzz(func(t *testing.T, text []byte) {
		headers, _, _ := splitResponse(text)
		for name, values := range headers {
			if name == "" || len(values) == 0 || strings.ContainsAny(name, ":\n") {
				t.Fatalf("%q: %q", name, values)
			}
		}
	})
}

func FuzzQuestion(f *testing.F) {
	f.Add([]byte(`{"id": "q", "question": "?", "tools": [{"name": "f", "parameters": {}}], "replies": [{"text": "f()"}], "ladder": [0]}`))
	f.Add([]byte(`{"id": "q", "tools": [{"name": "f", "parameters": {}}], "replies": [{"tool_calls": [{"name": "f", "arguments": "{}"}]}]}`))
	f.Add([]byte(`{"id": "\n", "tools": [], "ladder": [9]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		q, err := parseQuestion(text)
		if err != nil {
			return
		}
		p, err := play(q, loop.Config{CallsOnly: true}, nil)
		if err == nil && p.attempt > len(q.script()) {
			t.Fatal("more replies than the script has")
		}
	})
}

// Half a surrogate pair is no character: it is replaced, and whatever else is escaped stays as it is.
func TestHalvesOfSurrogatePairs(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"none":              {`"a\\nb\u00e9"`, `"a\\nb\u00e9"`},
		"pair":              {`"\ud83d\ude00"`, `"\ud83d\ude00"`},
		"first_half":        {`"\uD83D!"`, `"\ufffd!"`},
		"second_half":       {`"\ude00"`, `"\ufffd"`},
		"halves_in_a_row":   {`"\ud83d\ud83d\ude00\ude00"`, `"\ufffd\ud83d\ude00\ufffd"`},
		"escaped_backslash": {`"\\ud83d"`, `"\\ud83d"`},
		"at_the_end":        {`"\ud83d\ud8`, `"\ufffd\ud8`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, string(mendHalves([]byte(c.text))))
		})
	}
	q, err := rawLine{text: []byte(`{"id": "q", "tools": [{"name": "f", "description": "", "parameters": {}}], "replies": [{"text": "\ud83d"}]}`)}.parse()
	require.NoError(t, err)
	assert.Equal(t, "\ufffd", q.replies[0].Text)
}
