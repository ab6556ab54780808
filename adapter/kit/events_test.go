package kit_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
)

func TestEventsAreReadAsServersWriteThem(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		body, got string
		marked    bool
		err       error
	}{
		"marked":                {": ping\n\nevent: x\ndata: {\"a\":1}\r\n\r\ndata:{\"b\":2}\n\ndata: [DONE]\n\ndata: {}\n\n", `{"a":1}{"b":2}`, true, nil},
		"not marked":            {"data: {\"a\":1}\n\n", `{"a":1}`, false, nil},
		"no empty line":         {"data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]", `{"a":1}{"b":2}`, true, nil},
		"lines end with CR":     {": ping\r\revent: x\rdata: {\"a\":1}\r\rdata: {\"b\":\rdata: 2}\r\rdata: [DONE]\r\r", `{"a":1}{"b": 2}`, true, nil},
		"in each way":           {"data: {\"a\":\rdata: 1}\r\n\r\ndata: last\n\r\n", `{"a": 1}last`, false, nil},
		"of several lines":      {"data: {\"a\":\ndata: 1}\n\n", `{"a": 1}`, false, nil},
		"up to the last":        {"data: last\n\ndata: {}\n\n", `last`, false, nil},
		"cut off":               {"data: {\"a\":1}\n\ndata: {\"b\":", `{"a":1}`, false, kit.ErrEnded},
		"an object in no event": {"data: {\"a\":1}\n\n{\n  \"error\": {\n    \"code\": 503\n  }\n}\n", "{\"a\":1}{\n  \"error\": {\n    \"code\": 503\n  }\n}", false, nil},
		"half of one":           {"data: {\"a\":1}\n\n{\"error\":", `{"a":1}`, false, kit.ErrEnded},
		"half of the mark":      {"data: {\"a\":1}\n\ndata: [DO", `{"a":1}`, false, nil},
		"half of a field":       {"even", "", false, nil},
		// https://github.com/anomalyco/opencode/issues/50871
		"comments in data":    {"data: : keepalive\n\ndata: {\"a\":1}\n\n", `{"a":1}`, false, nil},
		"pings":               {"event: ping\ndata: \"\"\n\nevent: heartbeat\ndata: 12:00\n\ndata: {\"a\":1}\n\n", `{"a":1}`, false, nil},
		"words in no event":   {"data: {\"a\":1}\n\nbad gateway\n", `{"a":1}`, false, nil},
		"an error of the API": {"data: refuse\n\ndata: {}\n\n", "", false, refused},
	} {
		got := ""
		marked, err := kit.Events(strings.NewReader(c.body), func(data []byte) (bool, error) {
			if string(data) == "refuse" {
				return false, refused
			}
			got += string(data)
			return string(data) == "last", nil
		})
		assert.Equal(t, []any{c.got, c.marked}, []any{got, marked}, name)
		assert.ErrorIs(t, err, c.err, name)
	}
	// llama.cpp: https://github.com/ggml-org/llama.cpp/pull/16109
	for _, body := range []string{"error: {\"code\":500}\n\ndata: [DONE]\n\n", "data: {\"a\":1}\nerror: {\"code\":500}\n",
		"event: error\ndata: {\"code\":500}\n\n", "data: {\"a\":1}\nevent: error\ndata: {\"code\":500}\n\ndata: [DONE]\n\n"} {
		_, err := kit.Events(strings.NewReader(body), func([]byte) (bool, error) { return false, nil })
		reported, ok := errors.AsType[*kit.ReportedError](err)
		require.True(t, ok, body)
		assert.Equal(t, `{"code":500}`, string(reported.Body), body)
	}
	_, err := kit.Events(strings.NewReader("<html>\n"), nil)
	_, unreadable := errors.AsType[*kit.UnreadableError](err)
	assert.True(t, unreadable, err)
}

// An event is there once its lines are, though the CR of the last may be half of a CR LF that comes later.
func TestALineThatEndsWithCRIsNotWaitedFor(t *testing.T) {
	body, server := io.Pipe()
	read := make(chan string)
	go func() {
		_, _ = kit.Events(body, func(data []byte) (bool, error) {
			read <- string(data)
			return false, nil
		})
		close(read)
	}()
	for _, sent := range []string{"data: 1\r\r", "data: 2\r\n\r", "\ndata: 3\r\r"} {
		_, err := io.WriteString(server, sent)
		assert.NoError(t, err)
		assert.Equal(t, strings.TrimPrefix(strings.TrimSpace(sent), "data: "), <-read)
	}
	assert.NoError(t, server.Close())
	_, more := <-read
	assert.False(t, more)
}

// A line that comes in many reads is searched for its end once, not again with each read.
func TestWhatWasSearchedIsNotSearchedAgain(t *testing.T) {
	split := kit.Splitter()
	advance, line, err := split([]byte("data"), false)
	require.NoError(t, err)
	assert.Equal(t, 0, advance)
	assert.Nil(t, line)
	advance, line, err = split([]byte("\n\n\n\n: 1\n"), false) // ends that only a second search would find
	require.NoError(t, err)
	assert.Equal(t, 8, advance)
	assert.Equal(t, "\n\n\n\n: 1", string(line))
}

// A small body may unpack to very many events, and each takes more time than its bytes do.
func TestEventsAreCounted(t *testing.T) {
	_, err := kit.Events(strings.NewReader(strings.Repeat("data: 1\n\n", kit.MaxEvents)), func([]byte) (bool, error) { return false, nil })
	require.NoError(t, err)
	_, err = kit.Events(strings.NewReader(strings.Repeat("data: 1\n\n", kit.MaxEvents+1)), func([]byte) (bool, error) { return false, nil })
	require.ErrorIs(t, err, kit.ErrTooMany)
}

// BenchmarkEventsInTinyReads reads an event that comes byte by byte. Twice as many bytes take twice as long:
// compare ns/byte.
func BenchmarkEventsInTinyReads(b *testing.B) {
	for _, n := range []int{1 << 16, 1 << 17, 1 << 18} {
		b.Run(fmt.Sprint("bytes=", n), func(b *testing.B) {
			body := `data: "` + strings.Repeat("x", n) + "\"\n\n"
			for b.Loop() {
				if _, err := kit.Events(iotest.OneByteReader(strings.NewReader(body)), func([]byte) (bool, error) { return false, nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/byte")
		})
	}
}

// FuzzEvents reads any body. How its bytes arrive does not change what is read.
func FuzzEvents(f *testing.F) {
	for _, body := range []string{
		"data: {\"a\":1}\n\ndata: [DONE]\n\n", "data: {\"a\":1}\ndata: {\"b\":", ": ping\n\nevent: x\r\ndata: {}\r\n\r\n", "<html>", "dat",
		"data: {\r\rdata: 1\n\r\n", "data: 1\n\n{\n}\n", "error: {}\r\n", "data: {}\nevent: error\ndata: x\n\n",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		read := func(from io.Reader) (all []string, marked bool, words string) {
			marked, err := kit.Events(from, func(data []byte) (bool, error) {
				all = append(all, string(data))
				return false, nil
			})
			if err != nil {
				words = err.Error()
			}
			return all, marked, words
		}
		all, marked, err := read(strings.NewReader(body))
		again, markedToo, errToo := read(iotest.OneByteReader(strings.NewReader(body)))
		assert.Equal(t, []any{all, marked, err}, []any{again, markedToo, errToo})
		assert.NotContains(t, all, "")
		assert.LessOrEqual(t, len(strings.Join(all, "")), len(body))
	})
}
