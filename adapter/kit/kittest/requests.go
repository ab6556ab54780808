package kittest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// requests checks that any transcript makes one request which the API accepts, the same each time.
func requests(t *testing.T, c Config) {
	rapid.Check(t, func(t *rapid.T) {
		req := loop.Request{
			System:   rapid.SampledFrom([]string{"", " ", "Be brief."}).Draw(t, "system"),
			Messages: Transcripts(c.Opaque...).Draw(t, "transcript"),
		}
		if rapid.Bool().Draw(t, "tools") {
			req.Tools = []*tool.Tool{BookRoom(), HotelFind()}
		}
		sent := sentFor(t, c, req)
		_, isObject := kit.ReadObject(sent)
		require.True(t, isObject && kit.IsStrict(sent), "no strict JSON object: %s", sent)
		if c.Accepts != nil {
			require.NoError(t, c.Accepts(sent), "%s", sent)
		}
		require.Equal(t, string(sent), string(sentFor(t, c, req)), "the same request, twice")
	})
}

// bounds checks that a request's bound on its reply is sent, or that the model says that it has none, and
// that the model names itself, before and after.
func bounds(t *testing.T, c Config) {
	const most = 74
	req := Asks()["plain"]
	req.MaxOutputTokens = most
	s := Serve(t, "200 OK\nContent-Type: application/json\n\n"+c.Whole[0])
	model, err := c.New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := model.Reply(t.Context(), req)
	require.NoError(t, err)
	about, says := model.(loop.Describer)
	require.True(t, says, "the model is no loop.Describer: it has no price")
	assert.NotEmpty(t, about.Describe().Name)
	assert.NotEmpty(t, reply.Model,
		"the model that answered: the one that was asked if the server does not say")
	if !about.Describe().Unbounded {
		assert.Regexp(t, fmt.Sprintf(`: %d\b`, most), s.Requests()[0], "MaxOutputTokens is not sent")
	}
}

// sentFor returns the body of the one request that a call makes.
func sentFor(t *rapid.T, c Config, req loop.Request) []byte {
	var sent [][]byte
	before := fmt.Sprint(req.Messages)
	_, err := reply(t, c, nowhere, answering(c.Whole[0], &sent), req)
	require.NoError(t, err)
	require.Equal(t, before, fmt.Sprint(req.Messages), "the request was changed")
	require.Len(t, sent, 1, "requests of one call")
	return bytes.TrimSpace(sent[0])
}

// nowhere is the address of no server, which an answering client does not ask.
const nowhere = "http://server"

// answering is a client that gets a good reply to each request, and keeps what was sent.
func answering(whole string, sent *[][]byte) *http.Client {
	return &http.Client{Transport: transporting(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		*sent = append(*sent, body)
		return &http.Response{StatusCode: http.StatusOK,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   io.NopCloser(strings.NewReader(whole)), Request: r}, err
	})}
}

type transporting func(*http.Request) (*http.Response, error)

func (f transporting) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Transcripts draws conversations, also those that no run makes. opaque is data that an adapter could have
// kept of a message.
func Transcripts(opaque ...string) *rapid.Generator[[]message.Message] {
	texts := rapid.SampledFrom([]string{"", " \n", "Yes. ", "Two.", "\xff", `{"a":1}`,
		"<tool_call>{}</tool_call>"})
	names := rapid.SampledFrom([]string{"book_room", "hotel.find", "", "no such tool!", "ü", "1st",
		strings.Repeat("x", 200)})
	ids := rapid.SampledFrom([]string{"", "c1", "c2", "call-1", "call-2", "fc 3!", strings.Repeat("y", 200)})
	kept := rapid.SampledFrom(append([]string{"", "x", `{"adapter":"other"}`}, opaque...))
	call := rapid.Custom(func(t *rapid.T) message.Call {
		arguments := rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `[1]`, `"x"`, `{"a":`, `{"a":1,"a":2}`,
			`{"a":"\ud800"}`, "\xff", "null"})
		return message.Call{ID: ids.Draw(t, "id"), Name: names.Draw(t, "name"),
			Arguments: arguments.Draw(t, "arguments")}
	})
	roles := rapid.SampledFrom([]message.Role{message.System, message.User, message.Assistant, message.Tool,
		""})
	one := rapid.Custom(func(t *rapid.T) message.Message {
		m := message.Message{Role: roles.Draw(t, "role"), Text: texts.Draw(t, "text")}
		switch m.Role {
		case message.Assistant:
			m.Calls, m.Opaque = rapid.SliceOfN(call, 0, 3).Draw(t, "calls"), kept.Draw(t, "opaque")
		case message.Tool:
			m.CallID, m.Name, m.IsError = ids.Draw(t, "call"), names.Draw(t, "name"),
				rapid.Bool().Draw(t, "error")
		}
		return m
	})
	return rapid.SliceOfN(one, 0, 12)
}
