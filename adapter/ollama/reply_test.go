package ollama

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func TestFinishReasons(t *testing.T) {
	for reason, want := range map[string]message.FinishReason{"stop": message.Stop, "length": message.Length, "": "", "unload": ""} {
		got := &received{}
		got.add(chatResponse{Done: true, DoneReason: reason}, func(loop.Delta) {})
		assert.Equal(t, want, got.reply("m").Finish, reason)
	}
	cut := &received{calls: []message.Call{{Name: "f"}}, why: "length"}
	assert.Equal(t, message.Length, cut.reply("m").Finish, "a call that was cut off stays cut off")
}

// A stream that is cut anywhere is a broken connection, without a reply.
func TestAStreamThatIsCutAnywhereIsABrokenConnection(t *testing.T) {
	const stream = `{"message":{"content":"Hé"},"done":false}` + "\n" + `{"message":{"content":"llo"},"done":true,"done_reason":"stop"}`
	for cut := range len(stream) {
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
			x := &exchange{stream: func(loop.Delta) {}}
			_, err := x.read(io.MultiReader(strings.NewReader(stream[:cut]), iotest.ErrReader(end)))
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, stream[:cut])
			_, unreadable := errors.AsType[*kit.UnreadableError](err)
			require.False(t, unreadable, stream[:cut])
		}
	}
	x := &exchange{stream: func(loop.Delta) {}}
	got, err := x.read(strings.NewReader(stream))
	require.NoError(t, err)
	assert.Equal(t, "Héllo", got.reply("m").Text)
	for _, garbage := range []string{"<html>", "{]\n", `{"done": 7}` + "\n"} {
		_, err := x.read(strings.NewReader(garbage))
		require.ErrorContains(t, err, "no JSON of a reply", garbage)
	}
}

// Some servers of the API end a reply by its reason alone (https://github.com/ollama/ollama-vscode/pull/61).
func TestAReasonEndsAReplyToo(t *testing.T) {
	for _, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
		got, err := (&exchange{stream: stream}).read(strings.NewReader(`{"message":{"content":"4"}}` + "\n" + `{"message":{"content":"2"},"done_reason":"length","eval_count":3}`))
		require.NoError(t, err)
		reply := got.reply("m")
		assert.Equal(t, []any{"42", message.Length, int64(3)}, []any{reply.Text, reply.Finish, reply.Usage.OutputTokens})
	}
}

// A character that a server cuts in two is one character of the reply and of what is streamed.
func TestACharacterThatIsCutInTwoIsOne(t *testing.T) {
	var told string
	x := &exchange{stream: func(d loop.Delta) { told += d.Thinking + d.Text }}
	got, err := x.read(strings.NewReader("{\"message\":{\"thinking\":\"\xe2\x82\"}}\n{\"message\":{\"content\":\"\",\"thinking\":\"\xac\"}}\n" +
		`{"message":{"content":"a\ud83d"}}` + "\n" + `{"message":{"content":"\ude00b"},"done":true}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"€", "a😀b"}, []string{got.reply("m").Thinking, got.reply("m").Text})
	assert.Equal(t, "€a😀b", told)
	_, err = x.read(strings.NewReader(`{"message":{"content":7},"done":true}`))
	require.ErrorContains(t, err, "no JSON of a reply")
}

// lines is a stream without an end.
type lines struct{ read int64 }

var line = []byte("{}" + strings.Repeat(" ", 1<<15) + "\n")

func (l *lines) Read(p []byte) (int, error) {
	n := copy(p, line[l.read%int64(len(line)):])
	l.read += int64(n)
	return n, nil
}

// A server that has only loaded the model has not asked it (https://github.com/langchain-ai/langchain/issues/31482).
func TestALoadedModelHasNotReplied(t *testing.T) {
	for body, class := range map[string]fault.Class{
		`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`:   fault.Unavailable,
		`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"unload"}`: fault.Unavailable,
		`{"message":{"role":"assistant","content":"4"},"done":true,"done_reason":"load"}`:  "",
		`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`:   "",
	} {
		for _, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
			x := &exchange{stream: stream}
			_, err := x.read(strings.NewReader(body))
			if class == "" {
				require.NoError(t, err, body)
				continue
			}
			require.Error(t, err, body)
			assert.Equal(t, class, fault.FailureOf(x.failed(t.Context(), err)).Class, body)
		}
	}
}

func TestAStreamWithoutEndIsRefused(t *testing.T) {
	x, body := &exchange{stream: func(loop.Delta) {}}, &lines{}
	resp, err := x.Send(httptest.NewRequest(http.MethodPost, "/", nil), func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
	})
	require.NoError(t, err)
	_, err = x.read(resp.Body)
	require.Error(t, err)
	_, unreadable := errors.AsType[*kit.UnreadableError](err)
	assert.True(t, unreadable, err)
	assert.LessOrEqual(t, body.read, int64(64<<20+1))
}

// Any response gives a whole reply or an error. The deltas add up to the reply.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		`{"message":{"content":"He"},"done":false}` + "\n\n" + `{"message":{"content":"llo"},"done":true,"done_reason":"stop"}` + "\n",
		`{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"function":{"arguments":"x"}}]},"done":true}`,
		`{"error":"busy","status":503}`, `{"error":{"message":"error parsing tool call: x"}}`, `{"error":null,"done":true}`, "<html>", "", `{"done":true,"prompt_eval_count":-1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var text strings.Builder
		x := &exchange{stream: func(d loop.Delta) { text.WriteString(d.Text) }}
		got, err := x.read(bytes.NewReader(body))
		if err != nil {
			require.Nil(t, got)
			failure := x.failed(t.Context(), err)
			require.NotEmpty(t, failure.Error())
			return
		}
		reply := got.reply("m")
		require.Equal(t, reply.Text, text.String())
		require.GreaterOrEqual(t, reply.Usage.InputTokens, int64(0))
		ids := map[string]bool{"": true}
		for _, c := range reply.Calls {
			require.False(t, ids[c.ID])
			ids[c.ID] = true
		}
	})
}

// No reply is lost over a count that a gateway writes as it likes.
func TestCountsAreReadAsTheyCome(t *testing.T) {
	got := &received{}
	require.NoError(t, (&exchange{}).take([]byte(`{"done":true,"prompt_eval_count":5.0,"eval_count":"6"}`), got))
	assert.Equal(t, message.Usage{InputTokens: 5}, got.usage)
}

// Newer servers tell how much of the prompt they had kept.
func TestTheCachedPartOfThePromptIsCounted(t *testing.T) {
	for line, want := range map[string]message.Usage{
		`{"done":true,"prompt_eval_count":23,"prompt_eval_cached_count":22,"eval_count":6}`: {InputTokens: 23, CacheReadTokens: 22, OutputTokens: 6},
		`{"done":true,"prompt_eval_count":1,"prompt_eval_cached_count":22,"eval_count":6}`:  {InputTokens: 1, CacheReadTokens: 1, OutputTokens: 6},
	} {
		got := &received{}
		require.NoError(t, (&exchange{}).take([]byte(line), got))
		assert.Equal(t, want, got.usage)
	}
}
