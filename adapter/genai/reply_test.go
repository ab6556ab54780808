package genai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func TestFinishReasons(t *testing.T) {
	for _, known := range []sdk.FinishReason{
		sdk.FinishReasonStop, sdk.FinishReasonMaxTokens, sdk.FinishReasonSafety, sdk.FinishReasonRecitation, sdk.FinishReasonLanguage, sdk.FinishReasonOther,
		sdk.FinishReasonBlocklist, sdk.FinishReasonProhibitedContent, sdk.FinishReasonSPII, sdk.FinishReasonImageSafety, sdk.FinishReasonContinuation,
		sdk.FinishReasonNoImage, sdk.FinishReasonImageOther,
	} {
		g := received{began: true, finish: string(known)}
		require.NoError(t, g.unusable())
		want := message.Error
		switch known {
		case sdk.FinishReasonStop:
			want = message.Stop
		case sdk.FinishReasonMaxTokens, sdk.FinishReasonContinuation:
			want = message.Length
		case sdk.FinishReasonSafety, sdk.FinishReasonRecitation, sdk.FinishReasonBlocklist, sdk.FinishReasonProhibitedContent, sdk.FinishReasonSPII,
			sdk.FinishReasonImageSafety:
			want = message.ContentFilter
		}
		assert.Equal(t, want, g.reply("m").Finish, known)
	}
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"} {
		require.Error(t, (&received{began: true, finish: reason}).unusable())
	}
}

// The API may find out after the first words that it must not answer, and then gives no finish reason.
func TestAReplyThatIsBlockedOnItsWayIsFiltered(t *testing.T) {
	got, err := (&exchange{}).readEvents(strings.NewReader(`data: {"candidates":[{"content":{"parts":[{"text":"Well"}]}}]}` + "\n\n" +
		`data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":7}}` + "\n\n"))
	require.NoError(t, err)
	require.NoError(t, got.unusable())
	reply := got.reply("m")
	assert.Equal(t, message.ContentFilter, reply.Finish)
	assert.Equal(t, []any{"Well", int64(7)}, []any{reply.Text, reply.Usage.InputTokens})
}

func TestAToolWhoseNameTheAPIDoesNotTakeIsCalledByItsOwn(t *testing.T) {
	got := &received{}
	x := &exchange{names: map[string]string{"_1st": "1st"}}
	require.NoError(t, x.take([]byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"_1st"}}]}}]}`), got))
	assert.Equal(t, message.Call{Name: "1st"}, got.calls[0])
	assert.Equal(t, "_1st", toolName("1st"))
}

// A character that a server cuts in two is one character of the reply and of what is streamed.
func TestACharacterThatIsCutInTwoIsOne(t *testing.T) {
	var told string
	x := &exchange{stream: func(d loop.Delta) { told += d.Thinking + d.Text }}
	event := func(part string) string {
		return `data: {"candidates":[{"content":{"parts":[` + part + `]}}]}` + "\n\n"
	}
	got, err := x.readEvents(strings.NewReader(event("{\"thought\":true,\"text\":\"\xe2\x82\"}") + event("{\"thought\":true,\"text\":\"\xac\"}") +
		event(`{"text":"a\ud83d"}`) + event(`{"text":null},{"text":"\ude00b"}`) + "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"))
	require.NoError(t, err)
	reply := got.reply("m")
	assert.Equal(t, []string{"€", "a😀b"}, []string{reply.Thinking, reply.Text})
	assert.Equal(t, "€a😀b", told)
	require.Error(t, x.take([]byte(`{"candidates":[{"content":{"parts":[{"text":7}]}}]}`), &received{}))
}

// A client may ask for several candidates. Each event of a stream has one of them, and the text of one is no
// part of another.
func TestOneOfSeveralCandidatesIsTheReply(t *testing.T) {
	const zero, one = `{"index":0,"content":{"parts":[{"text":"He"}]}}`, `{"index":1,"content":{"parts":[{"text":"No."}]},"finishReason":"SAFETY"}`
	const rest = `{"content":{"parts":[{"text":"llo"}]},"finishReason":"STOP"}`
	for _, body := range []string{
		`data: {"candidates":[` + one + "]}\n\ndata: {\"candidates\":[" + zero + "]}\n\ndata: {\"candidates\":[" + one + "]}\n\ndata: {\"candidates\":[" + rest + "]}\n\n",
		`[{"candidates":[` + one + "," + zero + `]},{"candidates":[` + one + "," + rest + `]}]`,
	} {
		x := &exchange{}
		form, in := kit.Sniff(io.NopCloser(strings.NewReader(body)))
		x.Form = form
		got, err := x.read(in)
		require.NoError(t, err)
		assert.Equal(t, "Hello", got.reply("m").Text)
		assert.Equal(t, message.Stop, got.reply("m").Finish)
	}
}

// Any response gives a whole reply or an error. The deltas add up to the reply.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"He\"}]}}]}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"llo\",\"thoughtSignature\":\"YQ==\"},{\"functionCall\":{\"name\":\"f\",\"args\":null}}]},\"finishReason\":\"STOP\"}]}",
		"data: {\"error\":{\"code\":503}}\n", "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}", "data: {\"candidates\":[{\"finishReason\":\"MALFORMED_FUNCTION_CALL\"}]}\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[7,{\"inlineData\":{}},{\"thought\":true,\"text\":\"x\"}]},\"finishReason\":\"X\"}]}", "<html>", "", "data:",
		"[{\"error\":{}}]",
		`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}},{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0].b","stringValue":"x"}]}}]},"finishReason":"STOP"}]}`,
	} {
		f.Add([]byte(seed), 200)
	}
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		var text strings.Builder
		x := &exchange{Head: kit.Head{Provider: name, Status: status}, stream: func(d loop.Delta) { text.WriteString(d.Text) }}
		form, in := kit.Sniff(io.NopCloser(bytes.NewReader(body)))
		x.Form = form
		got, err := x.read(in)
		if err == nil {
			err = got.unusable()
		}
		if err != nil {
			require.NotEmpty(t, x.Fail(t.Context(), kit.Trouble{Cause: err}).Error())
			return
		}
		reply := got.reply("m")
		require.Equal(t, reply.Text, text.String())
		said := message.Message{Role: message.Assistant, Text: reply.Text, Calls: reply.Calls, Opaque: reply.Opaque}
		require.True(t, reply.Opaque == "" || fits(layout(said, "m"), said), "what is kept fits the reply")
		ids := map[string]bool{"": true}
		for _, c := range reply.Calls {
			require.False(t, ids[c.ID])
			ids[c.ID] = true
		}
	})
}

// Grounding, log probabilities and all counts are told as they came: of a stream the last of each, but all
// probabilities.
func TestGroundingIsTold(t *testing.T) {
	for name, body := range map[string]string{
		"whole": `{"candidates":[{"content":{"parts":[{"text":"4"}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["2+2"]},"avgLogprobs":-0.5,"logprobsResult":{"topCandidates":[{"a":1},{"b":2}],"logProbabilitySum":-7}}],"usageMetadata":{"totalTokenCount":3}}`,
		"stream": `data: {"candidates":[{"content":{"parts":[{"text":"4"}]},"groundingMetadata":{"webSearchQueries":[]},"logprobsResult":{"topCandidates":[{"a":1}]}}]}` + "\n\n" +
			`data: {"candidates":[{"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["2+2"]},"avgLogprobs":-0.5,"logprobsResult":{"topCandidates":[{"b":2}],"logProbabilitySum":-7}}],"usageMetadata":{"totalTokenCount":3}}`,
	} {
		x := &exchange{told: true}
		form, in := kit.Sniff(io.NopCloser(strings.NewReader(body)))
		x.Form = form
		got, err := x.read(in)
		require.NoError(t, err, name)
		assert.JSONEq(t, `{"webSearchQueries":["2+2"]}`, string(got.extra()["groundingMetadata"]), name)
		assert.JSONEq(t, `{"topCandidates":[{"a":1},{"b":2}],"logProbabilitySum":-7}`, string(got.extra()["logprobsResult"]), name)
		assert.JSONEq(t, `-0.5`, string(got.extra()["avgLogprobs"]), name)
		assert.JSONEq(t, `{"totalTokenCount":3}`, string(got.extra()["usageMetadata"]), name)
	}
}

// In the middle of a stream the API writes an error in no event.
func TestAnErrorInNoEventIsRead(t *testing.T) {
	x := &exchange{}
	_, err := x.readEvents(strings.NewReader(`data: {"candidates":[{"content":{"parts":[{"text":"4"}]}}]}` + "\n\n{\n  \"error\": {\n    \"code\": 429\n  }\n}\n"))
	reported, ok := errors.AsType[*kit.ReportedError](err)
	require.True(t, ok, err)
	assert.JSONEq(t, `{"error":{"code":429}}`, string(reported.Body))
}

// Gateways write counts as they like. No reply is lost over them.
func TestCountsAreReadAsTheyCome(t *testing.T) {
	for counts, want := range map[string]message.Usage{
		`{"promptTokenCount":3,"toolUsePromptTokenCount":2,"candidatesTokenCount":4,"thoughtsTokenCount":1,"cachedContentTokenCount":2}`: {
			InputTokens: 5, OutputTokens: 5, CacheReadTokens: 2, ReasoningTokens: 1, APICalls: 1},
		`{"promptTokenCount":3.0,"candidatesTokenCount":"4","thoughtsTokenCount":-1}`: {InputTokens: 3, APICalls: 1},
		`{"candidatesTokenCount":1e19,"thoughtsTokenCount":1}`:                        {OutputTokens: math.MaxInt64, ReasoningTokens: 1, APICalls: 1},
		`[]`: {APICalls: 1},
	} {
		got := &received{}
		require.NoError(t, (&exchange{}).take([]byte(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":`+counts+`}`), got))
		assert.Equal(t, want, got.reply("m").Usage, counts)
	}
}

// What tools of the API read is paid, but is no part of the next prompt.
func TestThePromptIsToldApartFromWhatToolsRead(t *testing.T) {
	for usage, want := range map[string]int64{`{"promptTokenCount":55,"toolUsePromptTokenCount":89}`: 55, `{"promptTokenCount":55}`: 0} {
		got := &received{}
		require.NoError(t, (&exchange{}).take([]byte(`{"usageMetadata":`+usage+`}`), got))
		assert.Equal(t, want, got.reply("m").PromptTokens)
	}
}

// Vertex AI puts empty parts into replies, and signatures come in parts of their own. The API refuses a part
// without content.
func TestAPartWithoutContentDoesNotGoBack(t *testing.T) {
	sent := func(parts string) []json.RawMessage {
		got := &received{}
		require.NoError(t, (&exchange{}).take([]byte(`{"candidates":[{"content":{"parts":[`+parts+`]},"finishReason":"STOP"}]}`), got))
		reply := got.reply("gemini-3-pro")
		turns, _ := turnsOf([]message.Message{{Role: message.User, Text: "Hi."},
			{Role: message.Assistant, Text: reply.Text, Calls: reply.Calls, Opaque: reply.Opaque}, {Role: message.User, Text: "Hi."}}, "gemini-3-pro")
		return turns[1].Parts
	}
	const text, image = `{"text":"A pig:"}`, `{"inlineData":{"mimeType":"image/png","data":"AA=="}}`
	for parts, want := range map[string]string{
		text + `,{},` + image:                                `[` + text + `,` + image + `]`,
		text + `,{"thought":true},` + image:                  `[` + text + `,` + image + `]`,
		text + `,{"text":null}`:                              `[` + text + `]`,
		text + `,{"thoughtSignature":"YQ=="}`:                `[` + text + `,{"text":"","thoughtSignature":"YQ=="}]`,
		`{"thought":true,"thoughtSignature":"YQ=="},` + text: `[{"thought":true,"thoughtSignature":"YQ==","text":""},` + text + `]`,
	} {
		assert.JSONEq(t, want, string(kit.List(sent(parts)...)), parts)
	}
}

// Some say of every prompt that it was blocked for no reason: it was not.
func TestAPromptThatIsBlockedForNoReasonIsNotBlocked(t *testing.T) {
	for _, reason := range []string{"BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"} {
		x := &exchange{}
		_, err := x.readEvents(strings.NewReader(`data: {"promptFeedback":{"blockReason":"` + reason + `"},"candidates":[{"content":{"parts":[{"text":"half"}]}}]}` + "\n\n"))
		assert.ErrorIs(t, err, kit.ErrEnded, reason)
	}
}
