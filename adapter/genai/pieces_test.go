package genai

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// inPieces reads a stream of calls, each event a part, and returns the reply and what was streamed of it.
func inPieces(t *testing.T, finish string, parts ...string) (reply message.Reply, told []message.Call, err error) {
	t.Helper()
	x := &exchange{names: map[string]string{"_1st": "1st"}, stream: func(d loop.Delta) {
		if d.Call == len(told) {
			told = append(told, message.Call{})
		}
		if d.Call >= 0 {
			told[d.Call].Name, told[d.Call].Arguments = told[d.Call].Name+d.Name, told[d.Call].Arguments+d.Arguments
		}
	}}
	var stream strings.Builder
	for _, part := range append(parts, `{"text":""}`) {
		stream.WriteString(`data: {"candidates":[{"content":{"parts":[` + part + `]}}]}` + "\r\n\r\n")
	}
	stream.WriteString(`data: {"candidates":[{"finishReason":"` + finish + `"}]}` + "\r\n\r\n")
	got, err := x.readEvents(strings.NewReader(stream.String()))
	if err == nil {
		err = got.unusable()
	}
	if err != nil {
		return reply, told, err
	}
	return got.reply("gemini-3-pro"), told, nil
}

func piece(call string) string { return `{"functionCall":` + call + `}` }

// Vertex AI names an empty list by its end alone, and an empty object by its name alone
// (https://github.com/vercel/ai/blob/main/packages/google/CHANGELOG.md).
func TestArgumentsInPiecesMayBeEmpty(t *testing.T) {
	reply, _, err := inPieces(t, "STOP", piece(`{"name":"f","willContinue":true}`),
		piece(`{"partialArgs":[{"jsonPath":"$.tags[]"},{"jsonPath":"$.more"},{"jsonPath":"$.rows[0].in[]"}],"willContinue":true}`),
		piece(`{"partialArgs":[{"jsonPath":"$.list[0]","numberValue":1},{"jsonPath":"$.list[]"}]}`))
	require.NoError(t, err)
	assert.Equal(t, `{"tags":[],"more":{},"rows":[{"in":[]}],"list":[1]}`, reply.Calls[0].Arguments)
	_, _, err = inPieces(t, "STOP", piece(`{"name":"f","willContinue":true}`), piece(`{"partialArgs":[{"jsonPath":"$.a","numberValue":1},{"jsonPath":"$.a[]"}]}`))
	assert.ErrorIs(t, err, errPieces)
	_, _, err = inPieces(t, "STOP", piece(`{"name":"f","willContinue":true}`), piece(`{"partialArgs":[{"jsonPath":"$.a[].b","numberValue":1}]}`))
	assert.ErrorIs(t, err, errPieces)
}

// A user may ask for the arguments of calls in pieces (streamFunctionCallArguments). A call ends with a piece
// that does not say that more follow, which may be empty.
func TestArgumentsInPiecesAreJoined(t *testing.T) {
	reply, told, err := inPieces(t, "STOP",
		`{"functionCall":{"name":"none"},"thoughtSignature":"c2ln"}`,
		piece(`{"name":"_1st","willContinue":true}`),
		piece(`{"partialArgs":[{"jsonPath":"$.rows[0].name","stringValue":"an ","willContinue":true}],"willContinue":true}`),
		piece(`{"partialArgs":[{"jsonPath":"$.rows[0].name","stringValue":"apple"}],"willContinue":true}`),
		piece(`{"partialArgs":[{"jsonPath":"$.rows[0]['unit price']","numberValue":0.5},{"jsonPath":"$.rows[1].sold","boolValue":false}],"willContinue":true}`),
		piece(`{"partialArgs":[{"jsonPath":"$.note","nullValue":"NULL_VALUE"},{"jsonPath":"$.tags[0]","stringValue":""}],"willContinue":true}`),
		piece(`{}`),
		piece(`{"name":"last","id":"c3","willContinue":true}`),
		piece(`{"partialArgs":[{"jsonPath":"$.x","numberValue":12345678901234567890}]}`))
	require.NoError(t, err)
	want := []message.Call{{ID: "call-1", Name: "none"},
		{ID: "call-2", Name: "1st", Arguments: `{"rows":[{"name":"an apple","unit price":0.5},{"sold":false}],"note":null,"tags":[""]}`},
		{ID: "c3", Name: "last", Arguments: `{"x":12345678901234567890}`}}
	assert.Equal(t, want, reply.Calls)
	assert.Equal(t, message.ToolUse, reply.Finish)
	for n := range want {
		want[n].ID = ""
	}
	assert.Equal(t, want, told)
	said := message.Message{Role: message.Assistant, Calls: reply.Calls, Opaque: reply.Opaque}
	assert.Equal(t, "c2ln", layout(said, "gemini-3-pro")[0].Signature)
	empty, _, err := inPieces(t, "STOP", piece(`{"name":"f","willContinue":true}`), piece(`{}`))
	require.NoError(t, err)
	assert.Equal(t, "{}", empty.Calls[0].Arguments)
}

// Half a call is none. One that the bound cuts off is not run.
func TestArgumentsInPiecesThatDoNotFitTogetherAreNoReply(t *testing.T) {
	begun := piece(`{"name":"f","willContinue":true}`)
	at := func(path string) string {
		return piece(`{"partialArgs":[{"jsonPath":"` + path + `","stringValue":"1"}],"willContinue":true}`)
	}
	for name, parts := range map[string][]string{
		"no beginning":       {piece(`{"partialArgs":[{"jsonPath":"$.x","stringValue":"1"}]}`)},
		"no end":             {begun, at("$.x")},
		"a call within":      {begun, piece(`{"name":"g"}`)},
		"two kinds":          {begun, at("$.x"), at("$.x.y"), piece(`{}`)},
		"a list with a hole": {begun, at("$.x[1]"), piece(`{}`)},
		"no root":            {begun, at("x"), piece(`{}`)},
		"no path":            {begun, at("$x"), piece(`{}`)},
		"too deep":           {begun, at("$" + strings.Repeat(".x", maxDepth+1)), piece(`{}`)},
	} {
		_, _, err := inPieces(t, "STOP", parts...)
		unreadable, is := errors.AsType[*kit.UnreadableError](err)
		require.True(t, is, name)
		assert.Equal(t, "pieces of arguments that do not fit together", unreadable.Got, name)
	}
	reply, _, err := inPieces(t, "MAX_TOKENS", begun, at("$.x"))
	require.NoError(t, err)
	assert.Equal(t, message.Length, reply.Finish)
}
