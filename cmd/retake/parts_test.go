package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

// retake delays shows the waits that loop.Do makes with the same seed.
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
					waits = append(waits, millis(n.Delay))
				}
			})
			try := func(context.Context, loop.Attempt) (int, error) { return 0, c.err }
			_, err := loop.Do(t.Context(), nil, a, try, loop.WithClock(looptest.NewClock()), loop.WithObserver(note))
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)

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
	// A filler takes the place of letters and shows nothing, so that two names look like one.
	assert.Equal(t, "pay\uFFFD ⚠\ufe0f", plain("pay\u3164 ⚠\ufe0f"))
	var out bytes.Buffer
	e := &env{out: bufio.NewWriter(&out)}
	require.NoError(t, e.json("pay\u3164 ⚠\ufe0f"))
	require.NoError(t, e.out.Flush())
	assert.Equal(t, `"pay\u3164 ⚠`+"\ufe0f\"\n", out.String())
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

// A cut is an exact share of the characters, although the share is a float.
func TestCutText(t *testing.T) {
	assert.Len(t, cutText(strings.Repeat("a", 100), 0.29), 29)
	assert.Equal(t, "é", cutText("éa", 0.5))
	assert.Equal(t, "", cutText("éa", 0.49))
	assert.Equal(t, "éa", cutText("éa", 1))
}

func TestMilliseconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0"}, {1, "0.000001"}, {500 * time.Millisecond, "500"}, {250 * time.Microsecond, "0.25"},
		{time.Second + 1, "1000.000001"}, {1<<63 - 1, "9223372036854.775807"},
	} {
		assert.Equal(t, c.want, string(millis(c.d)))
	}
}

func TestInputThatBreaksOff(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := readAll("standard input", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

// A flag has help, which names its value.
func TestEveryFlagHasHelp(t *testing.T) {
	for _, c := range commands() {
		c.flagSet(c.task()).VisitAll(func(f *flag.Flag) {
			require.NotEmpty(t, f.Usage, "%s -%s", c.name, f.Name)
			named := strings.Count(f.Usage, "`") == 2
			_, isSwitch := f.Value.(interface{ IsBoolFlag() bool })
			require.Equal(t, !isSwitch, named, "%s -%s", c.name, f.Name)
		})
	}
}

// A journal that cannot be read to its end is not called damaged: nobody knows.
func TestWhatCannotBeReadIsNotDamaged(t *testing.T) {
	journal, err := os.ReadFile("../../testdata/journals/v1/corrected.jsonl")
	require.NoError(t, err)
	var out, failed bytes.Buffer
	broken := io.MultiReader(bytes.NewReader(journal), iotest.ErrReader(errors.New("the server is gone")))
	e := &env{in: broken, out: bufio.NewWriter(&out), err: &failed}
	assert.Equal(t, exitTrouble, execute(e, []string{"verify", "-"}))
	assert.Equal(t, "bad      (standard input)\n  the server is gone\n", out.String())
	assert.Equal(t, "retake verify: standard input: the journal cannot be read\n", failed.String())
}
