package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func said(messages ...message.Message) []message.Message { return messages }

// show is one exchange in a line.
func show(e kit.Exchange) string {
	var b strings.Builder
	b.WriteString(e.Model.Text)
	for _, c := range e.Calls {
		fmt.Fprintf(&b, " %s:%s=%s", c.ID, c.Name, c.Text)
		if c.IsError {
			b.WriteByte('!')
		}
	}
	for _, m := range e.Then {
		fmt.Fprintf(&b, " %s(%s)", m.Role, m.Text)
	}
	return b.String()
}

func TestTranscriptsBecomeExchanges(t *testing.T) {
	call := func(id, name string) message.Call { return message.Call{ID: id, Name: name, Arguments: "{}"} }
	said := said(
		message.Message{Role: message.Tool, CallID: "c0", Name: "f", Text: "old"},
		message.Message{Role: message.System, Text: "Be brief."},
		message.Message{Role: message.User, Text: "Hello."},
		message.Message{Role: message.User, Text: " \n"},
		message.Message{Role: message.Assistant, Text: "A", Calls: []message.Call{call("c1", "f"), call("c1", "f"), call("", "g"), call("no id!", "h")}},
		message.Message{Role: message.User, Text: "Well?"},
		message.Message{Role: message.Tool, CallID: "c1", Name: "f", Text: "one"},
		message.Message{Role: message.Tool, CallID: "x", Name: "g", IsError: true},
		message.Message{Role: message.Assistant},
		message.Message{Role: message.Tool, CallID: "c1", Name: "f", Text: "two"},
		message.Message{Role: message.Tool, CallID: "c1", Name: "f", Text: "three"},
		message.Message{Role: message.System, Text: "Be kind."},
		message.Message{Role: message.Assistant, Text: "B"},
	)
	rules := kit.Rules{Name: strings.ToUpper, TakesID: func(id string) bool { return !strings.Contains(id, " ") }}
	opening, exchanges := rules.Exchanges(said)
	var got []string
	for _, e := range exchanges {
		got = append(got, show(e))
	}
	assert.Equal(t, []string{"Be brief."}, opening)
	assert.Equal(t, []string{
		" user(Result of F: old) user(Hello.)",
		"A c1:F=one call-1:F=two call-2:G=The call failed.! call-3:H=No result: the call was not run.!" +
			" user(Well?) user(Result of F: three) user(Be kind.)",
		"B",
	}, got)

	rules.SystemInPlace = true
	opening, exchanges = rules.Exchanges(said)
	assert.Empty(t, opening)
	assert.Equal(t, " user(Result of F: old) system(Be brief.) user(Hello.)", show(exchanges[0]))
}

func TestLawEveryCallIsAnsweredOnceUnderAnIDOfItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"f", "g", ""})
		id := rapid.SampledFrom([]string{"", "c1", "call-1", "call-2"})
		messages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.Message {
			role := rapid.SampledFrom([]message.Role{message.System, message.User, message.Assistant, message.Tool}).Draw(t, "role")
			m := message.Message{Role: role, Text: rapid.SampledFrom([]string{"", "text"}).Draw(t, "text")}
			switch role {
			case message.Assistant:
				for range rapid.IntRange(0, 3).Draw(t, "calls") {
					m.Calls = append(m.Calls, message.Call{ID: id.Draw(t, "id"), Name: name.Draw(t, "name")})
				}
			case message.Tool:
				m.CallID, m.Name = id.Draw(t, "id"), name.Draw(t, "name")
			}
			return m
		}), 0, 12).Draw(t, "messages")
		_, exchanges := kit.Rules{Name: func(s string) string { return s }}.Exchanges(said(messages...))
		seen, answers := map[string]bool{}, 0
		for n, e := range exchanges {
			require.True(t, n == 0 || e.Model.Role == message.Assistant, "an exchange begins with the model")
			require.Len(t, e.Calls, len(e.Model.Calls))
			for _, c := range e.Calls {
				require.NotEmpty(t, c.ID)
				require.False(t, seen[c.ID], "an id twice")
				seen[c.ID] = true
				if c.Text != kit.NotRun {
					answers++
				}
			}
			for _, m := range e.Then {
				require.Equal(t, message.User, m.Role)
				if strings.HasPrefix(m.Text, "Result of ") {
					answers++
				}
			}
		}
		for _, m := range messages {
			if m.Role == message.Tool {
				answers--
			}
		}
		require.Zero(t, answers, "no answer is lost or told twice")
	})
}

func TestCallsGetIDsOfTheirOwn(t *testing.T) {
	for _, c := range []struct{ given, want []string }{
		{[]string{"a", "b"}, []string{"a", "b"}},
		{[]string{"", ""}, []string{"call-1", "call-2"}},
		{[]string{"a", "a"}, []string{"a", "call-2"}},
		{[]string{"", "call-1", "call-1"}, []string{"call-2", "call-1", "call-3"}},
	} {
		var calls []message.Call
		for _, id := range c.given {
			calls = append(calls, message.Call{ID: id})
		}
		var got []string
		for _, call := range kit.NameCalls(calls) {
			got = append(got, call.ID)
		}
		assert.Equal(t, c.want, got)
	}
}

func TestArgumentsAreAnObject(t *testing.T) {
	for written, want := range map[string]string{
		"":                  `{}`,
		" \n":               `{}`,
		`{"b": 1e2, "a":2}`: `{"b": 1e2, "a":2}`,
		`{"a":1,"a":2}`:     `{"raw_arguments":"{\"a\":1,\"a\":2}"}`,
		`{"a":1} and more`:  `{"raw_arguments":"{\"a\":1} and more"}`,
		`["<Porto>"]`:       `{"raw_arguments":"[\"<Porto>\"]"}`,
		`{"city": `:         `{"raw_arguments":"{\"city\": "}`,
	} {
		assert.Equal(t, want, string(kit.Arguments(written)), written)
	}
}

func TestATextThatIsCut(t *testing.T) {
	const whole = ` {"a": [1, "é\\u00e9", null], "b": {}}`
	for n := range len(whole) {
		assert.True(t, kit.Cut([]byte(whole[:n])), whole[:n])
	}
	for _, text := range []string{whole, "null", "<html>", "{a", `{"a" 1`, "{}{"} {
		assert.False(t, kit.Cut([]byte(text)), text)
	}
}

func TestObjectsKeepTheirOrder(t *testing.T) {
	o, ok := kit.ReadObject([]byte(`{"b": 1, "a": "<x>", "c": [1, 2]}`))
	require.True(t, ok)
	assert.Equal(t, `{"b":1,"a":"<x>","c":[1, 2]}`, string(o.JSON()))
	assert.Equal(t, `{"b":2,"a":"<x>","c":[1, 2],"d":null}`, string(o.With("b", json.RawMessage("2")).With("d", json.RawMessage("null")).JSON()))
	assert.Equal(t, `{"a":"<x>"}`, string(o.Without("b", "c").JSON()))
	assert.Equal(t, "<x>", o.Text("a"))
	assert.Empty(t, o.Text("b"))
	assert.Nil(t, o.Get("d"))
	assert.Equal(t, `[1,2]`, string(kit.List(kit.Items(o.Get("c"))...)))
	assert.Nil(t, kit.Items(o.Get("b")))
	assert.NotNil(t, kit.Items([]byte("[]")))
	for _, raw := range []string{"", "null", "[]", `{"a"`, `{"a":1`, `{"a":}`, `{1:2}`} {
		_, ok := kit.ReadObject([]byte(raw))
		assert.False(t, ok, raw)
	}
	_, isText := kit.ReadText(json.RawMessage("null"))
	assert.False(t, isText)
}

func FuzzReadObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":{"b":[1,"x"]},"a":null}`, `{"a":1}x`, `{"\u0000":"\ud800"}`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, ok := kit.ReadObject(raw)
		if !ok {
			return
		}
		written := o.JSON()
		require.True(t, json.Valid(written), "%s", written)
		again, ok := kit.ReadObject(written)
		require.True(t, ok)
		require.Equal(t, string(written), string(again.JSON()))
	})
}

func TestAFailureIsToldWithoutAddresses(t *testing.T) {
	reset := &net.OpError{
		Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 4711}, Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 443},
		Err: errors.New("read: connection reset by peer"),
	}
	lookup := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.internal", Server: "10.0.0.53:53"}}
	for want, err := range map[string]error{
		"unexpected EOF":                                   io.ErrUnexpectedEOF,
		"read: connection reset by peer":                   reset,
		"lookup: no such host":                             &url.Error{Op: "Post", URL: "http://api.internal/v1", Err: lookup},
		"context canceled: read: connection reset by peer": fmt.Errorf("%w: %w", context.Canceled, reset),
		"dial: i/o timeout":                                errors.Join(context.Canceled, &url.Error{Op: "Post", URL: "http://x", Err: errors.New("dial: i/o timeout")}),
	} {
		assert.Equal(t, want, kit.Why(err))
	}
}

func TestWordsOfResponses(t *testing.T) {
	assert.Equal(t, "one line", kit.Line(" one\n line\xff "))
	assert.Len(t, kit.Line(strings.Repeat("x", 400)), 300+len("…"))
	assert.Equal(t, "the key [key] is wrong", kit.Redact("the key sk-12345 is wrong", "sk-12345"))
	assert.Equal(t, "expected a text", kit.Redact("expected a text", "x"), "a placeholder for a local server is no secret")
	assert.Equal(t, "text", kit.Redact("text", ""))
	assert.Equal(t, "a\n\nb", kit.Join("a", " ", "", "b"))

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	assert.Equal(t, now, kit.ReceivedAt(nil, now))
	assert.Equal(t, now.Add(time.Hour), kit.ReceivedAt(http.Header{"Date": {"Fri, 02 Jan 2026 04:04:05 GMT"}}, now))

	var told []loop.Delta
	kit.TellWhole(message.Reply{Text: "Hm.", Calls: []message.Call{{Name: "f", Arguments: "{}"}}}, func(d loop.Delta) { told = append(told, d) })
	assert.Equal(t, []loop.Delta{{Text: "Hm.", Call: -1}, {Call: 0, Name: "f", Arguments: "{}"}}, told)
}

// Anthropic refuses media in the answer to a call that failed, so they follow the answers.
func TestMediaOfAnErrorFollowTheAnswers(t *testing.T) {
	image := message.Bytes(message.ImagePart, "image/png", []byte("png"))
	rules := kit.Rules{Name: strings.ToLower, MediaInAnswers: true}
	for _, failed := range []bool{false, true} {
		_, exchanges := rules.Exchanges(said(
			message.Message{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}}},
			message.Message{Role: message.Tool, CallID: "c1", Name: "f", Text: "seen", Parts: []message.Part{image}, IsError: failed},
		))
		require.Len(t, exchanges, 1)
		if !failed {
			assert.Equal(t, []message.Part{image}, exchanges[0].Calls[0].Parts)
			assert.Empty(t, exchanges[0].Then)
			continue
		}
		assert.Empty(t, exchanges[0].Calls[0].Parts)
		assert.Equal(t, []message.Message{{Role: message.User, Text: "Media of the result of f:", Parts: []message.Part{image}}}, exchanges[0].Then)
	}
}

func TestACountIsNeverNegative(t *testing.T) {
	for raw, want := range map[string]int64{"12": 12, "1.9": 1, "-3": 0, "1e30": math.MaxInt64, "9223372036854775807": math.MaxInt64, `"5"`: 0, "null": 0, "": 0} {
		assert.Equal(t, want, kit.Count(json.RawMessage(raw)), raw)
	}
}

// The log probabilities of a stream come in pieces, of which a server may make anything.
func TestPiecesOfManyMembersAreJoinedInProportion(t *testing.T) {
	assert.JSONEq(t, `{"a":[1,2],"b":4,"c":[3]}`, string(kit.JoinLists([]json.RawMessage{
		[]byte(`{"a":[1],"b":3}`), []byte(`{"a":[2],"b":4,"c":[3]}`),
	})))
	var members []string
	for n := range 3000 {
		members = append(members, fmt.Sprintf(`"m%d":[%d]`, n, n))
	}
	piece := json.RawMessage("{" + strings.Join(members, ",") + "}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	joined := kit.JoinLists([]json.RawMessage{piece, piece})
	runtime.ReadMemStats(&after)
	assert.Contains(t, string(joined), `"m2999":[2999,2999]`)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40<<20))
}

// The ids that are missing and those that are taken may be many.
func TestCallsAreNamedInProportion(t *testing.T) {
	taken := func(n int) float64 {
		calls := make([]message.Call, 2*n)
		for place := range n {
			calls[n+place].ID = fmt.Sprint("call-", place+1)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		kit.NameCalls(calls)
		runtime.ReadMemStats(&after)
		assert.Equal(t, fmt.Sprint("call-", n+1), calls[0].ID)
		assert.Equal(t, fmt.Sprint("call-", 2*n), calls[n-1].ID)
		assert.Equal(t, "call-1", calls[n].ID)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	assert.Less(t, taken(4000)/taken(1000), 6.0, "4 times as many calls")
}

func TestTheWordsOfAllProvidersForAnEndAreKnown(t *testing.T) {
	called := []message.Call{{Name: "f"}}
	for word, want := range map[string]message.FinishReason{
		"stop": message.Stop, "END_TURN": message.Stop, "tool_calls": message.ToolUse, "tool_use": message.ToolUse, "max_tokens": message.Length,
		// https://github.com/anomalyco/opencode/issues/18813
		"model_context_window_exceeded": message.Length, "content_filter: PROHIBITED_CONTENT": message.ContentFilter, "refusal": message.ContentFilter,
		"eos": message.Stop, "guardrail_intervened": message.ContentFilter, "ERROR_TOXIC": message.ContentFilter, "ERROR_LIMIT": message.Length,
	} {
		got, known := kit.Finish(word, nil)
		assert.True(t, known, word)
		assert.Equal(t, want, got, word)
	}
	got, _ := kit.Finish("end_turn", called)
	assert.Equal(t, message.ToolUse, got)
	got, _ = kit.Finish("length", called)
	assert.Equal(t, message.Length, got)
	_, known := kit.Finish("tired", nil)
	assert.False(t, known)
}

// What goes back to the API has to be valid JSON, or the blocks with their signatures would be left out.
func TestKeptDataIsValidUTF8(t *testing.T) {
	type data struct {
		kit.Origin
		Raw json.RawMessage
	}
	by := kit.Origin{Adapter: "a", Model: "m"}
	var got data
	require.True(t, kit.ReadOpaque(message.Message{Opaque: kit.KeepOpaque(data{by, json.RawMessage("{\"a\":\"x\xff\"}")})}, by, &got))
	assert.True(t, kit.IsStrict(got.Raw), "%q", got.Raw)
}

// A conversation in which nobody speaks is refused by every API, and one that begins or ends with the model
// by many.
func TestTheUserSpeaksWhereTheAPIWantsIt(t *testing.T) {
	system, user := message.Message{Role: message.System, Text: "Be brief."}, message.Message{Role: message.User, Text: "Hello."}
	model := message.Message{Role: message.Assistant, Text: "A"}
	called := message.Message{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "f"}}}
	name := func(s string) string { return s }
	free, around := kit.Rules{Name: name, SystemInPlace: true}, kit.Rules{Name: name, UserAround: true}
	const goOn, answered = " user(Continue.)", " c1:f=No result: the call was not run.!"
	for what, c := range map[string]struct {
		rules kit.Rules
		said  []message.Message
		want  []string
	}{
		"nobody":             {free, nil, []string{goOn}},
		"only the system":    {free, said(system), []string{" system(Be brief.)" + goOn}},
		"the model, freely":  {free, said(model), []string{"A"}},
		"the model":          {around, said(model), []string{goOn, "A" + goOn}},
		"a call":             {around, said(system, called), []string{goOn, answered}},
		"the user":           {around, said(user), []string{" user(Hello.)"}},
		"one after another":  {around, said(user, model, model, user), []string{" user(Hello.)", "A", "A user(Hello.)"}},
		"the system at last": {around, said(user, model, system), []string{" user(Hello.)", "A user(Be brief.)"}},
	} {
		_, exchanges := c.rules.Exchanges(c.said)
		var got []string
		for _, e := range exchanges {
			got = append(got, show(e))
		}
		assert.Equal(t, c.want, got, what)
	}
}
