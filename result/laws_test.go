package result_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
)

// Each form brings back every result, and so does any chain of forms.
func TestLawEveryFormIsLossless(t *testing.T) {
	schemas := compiled(t)
	rapid.Check(t, func(t *rapid.T) {
		r := results().Draw(t, "result")
		for _, form := range result.Forms() {
			doc := encode(t, form, r)
			if again := encode(t, form, r); again != doc {
				t.Fatalf("%s: first %s, then %s", form, doc, again)
			}
			check(t, schemas[string(form)], doc)
			same(t, r, decode(t, form, doc), doc)
		}
		way := rapid.SliceOfN(rapid.SampledFrom(result.Forms()), 1, 5).Draw(t, "way")
		there := r
		for _, form := range way {
			there = decode(t, form, encode(t, form, there))
		}
		same(t, r, there, "")
	})
}

func same(t *rapid.T, want, got raw, doc string) {
	if a, b := print(want), print(got); a != b {
		t.Fatalf("%s\nwant %s\ngot  %s", doc, a, b)
	}
}

// print returns a result as text. Equal results have equal texts.
func print(r raw) string {
	data, _ := json.Marshal(struct {
		Status result.Status
		Data   json.RawMessage
		Error  result.Error
		Meta   result.Meta
	}{r.Status, r.Data, r.Error, r.Meta})
	return string(data)
}

// An unknown member of a document comes back in its place, also by way of another form.
func TestLawUnknownMembersStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom(result.Forms()).Draw(t, "form")
		doc := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(encode(t, form, results().Draw(t, "result"))), &doc); err != nil {
			t.Fatal(err)
		}
		for _, name := range rapid.SliceOfN(rapid.StringMatching(`x[a-z~/]{0,5}`), 1, 4).Draw(t, "names") {
			doc[name] = json.RawMessage(jsonTexts().Draw(t, "value"))
		}
		text, err := canon.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		other := rapid.SampledFrom(result.Forms()).Draw(t, "other")
		there := decode(t, other, encode(t, other, decode(t, form, string(text))))
		if back := encode(t, form, there); back != string(text) {
			t.Fatalf("by way of %s\nwas %s\nis  %s", other, text, back)
		}
	})
}

func TestLawCostsAddInAnyOrder(t *testing.T) {
	cents := rapid.Map(rapid.IntRange(0, 1_000_000), func(n int) float64 { return float64(n) / 10000 })
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(cents, 1, 20).Draw(t, "costs")
		var forth, back result.Cost
		for i := range all {
			forth = forth.Plus(result.Cost{Total: all[i]})
			back = back.Plus(result.Cost{Total: all[len(all)-1-i]})
		}
		if forth != back {
			t.Fatalf("%v and %v", forth, back)
		}
	})
}

func jsonTexts() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{`null`, `true`, `0`, `-1.50`, `"x"`, `[]`, `{}`, `{"a":[1,{"b":null}]}`, `[null,"y"]`, `123456789012345678901234567890`})
}

func objects() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{``, `{}`, `{"a":1}`, `{"a":{"b":[null]},"é":"☃"}`})
}

// texts are empty or any UTF-8.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.String().Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s }))
}

func maybe[T any](g *rapid.Generator[T]) *rapid.Generator[*T] {
	return rapid.OneOf(rapid.Just[*T](nil), rapid.Map(g, func(v T) *T { return &v }))
}

func rawJSON(g *rapid.Generator[string]) *rapid.Generator[json.RawMessage] {
	return rapid.Map(g, func(s string) json.RawMessage {
		if s == "" {
			return nil
		}
		return json.RawMessage(s)
	})
}

func counts() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Just[int64](0), rapid.Int64Range(0, 1<<40))
}

func spans() *rapid.Generator[ratelimit.Span] {
	return rapid.OneOf(rapid.Just(ratelimit.Span{}), rapid.Map(rapid.Int64Range(0, int64(366*24*time.Hour)), func(n int64) ratelimit.Span {
		return ratelimit.In(time.Duration(n))
	}))
}

func dollars() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1e6))
}

func classes() *rapid.Generator[fault.Class] {
	own := []fault.Class{"breed-not-found", "QUOTA_EXCEEDED", "low_confidence", "Ünïcode", "UNKNOWN_THING"}
	return rapid.SampledFrom(append(append(fault.Transport.Classes(), fault.Correction.Classes()...), own...))
}

// results are valid results of every kind, with every field set or not.
func results() *rapid.Generator[raw] {
	return rapid.Custom(func(t *rapid.T) raw {
		r := raw{Meta: metas().Draw(t, "meta")}
		r.Status = rapid.SampledFrom([]result.Status{result.StatusSuccess, result.StatusError, result.StatusInProgress}).Draw(t, "status")
		switch r.Status {
		case result.StatusSuccess:
			r.Data = rawJSON(rapid.OneOf(rapid.Just(""), jsonTexts())).Draw(t, "data")
		case result.StatusError:
			r.Message = ""
			r.Error = result.Error{
				Class: classes().Draw(t, "class"), Type: texts().Draw(t, "type"), Message: texts().Draw(t, "error message"),
				StatusCode: rapid.SampledFrom([]int{0, 100, 429, 529}).Draw(t, "status code"),
				Retryable:  maybe(rapid.Bool()).Draw(t, "retryable"), Original: rawJSON(objects()).Draw(t, "original"),
			}
		}
		return r
	})
}

func metas() *rapid.Generator[result.Meta] {
	return rapid.Custom(func(t *rapid.T) result.Meta {
		m := result.Meta{
			Message: texts().Draw(t, "message"), Content: texts().Draw(t, "content"),
			Confidence: maybe(rapid.Float64Range(0, 1)).Draw(t, "confidence"),
			Warnings:   rapid.SampledFrom([][]string{nil, {}, {""}, {"late", "very"}}).Draw(t, "warnings"),
			Execution:  executions().Draw(t, "execution"),
			Provider:   result.ProviderData{RequestID: texts().Draw(t, "request id")},
			Finish:     rapid.SampledFrom([]message.FinishReason{"", message.Stop, message.Error, "end_turn"}).Draw(t, "finish"),
			RateLimit:  states().Draw(t, "rate limit"),
			Metadata:   rawJSON(rapid.OneOf(objects(), jsonTexts().Filter(func(s string) bool { return s != "null" }))).Draw(t, "metadata"),
		}
		m.Provider.RawHeaders = rapid.SampledFrom([]result.Headers{nil, {}, {"via": "x"}, {"x-ratelimit-remaining-tokens": "5", "a": ""}}).Draw(t, "headers")
		m.Extra = rapid.SampledFrom([]result.Extra{
			nil, {result.AgentResult: {"/trace": json.RawMessage(`null`), "/usage/requests": json.RawMessage(`3`)}},
			{result.ResultEnvelope: {"/execution/region": json.RawMessage(`"eu"`), "/a~1b": json.RawMessage(`{}`)}, result.ModelResponse: {"/x": json.RawMessage(`[]`)}},
		}).Draw(t, "extra")
		return m
	})
}

func executions() *rapid.Generator[result.Execution] {
	return rapid.Custom(func(t *rapid.T) result.Execution {
		return result.Execution{
			Duration: time.Duration(rapid.Int64Range(0, int64(366*24*time.Hour)).Draw(t, "duration")),
			Usage: result.Usage{Usage: message.Usage{
				InputTokens: counts().Draw(t, "input"), OutputTokens: counts().Draw(t, "output"), CacheReadTokens: counts().Draw(t, "read"),
				CacheWriteTokens: counts().Draw(t, "write"), APICalls: counts().Draw(t, "calls"),
			}, TotalTokens: counts().Draw(t, "total")},
			Cost: result.Cost{
				Input: dollars().Draw(t, "input cost"), Output: dollars().Draw(t, "output cost"), CacheRead: dollars().Draw(t, "read cost"),
				CacheWrite: dollars().Draw(t, "write cost"), Total: dollars().Draw(t, "total cost"),
			},
			Model: texts().Draw(t, "model"), Provider: texts().Draw(t, "provider"),
			RetryCount: maybe(rapid.IntRange(0, 1<<20)).Draw(t, "retries"),
			Timestamp:  rapid.SampledFrom([]string{"", "2024-01-26T15:30:00Z", "2024-01-26 15:30:00.5"}).Draw(t, "timestamp"),
		}
	})
}

func states() *rapid.Generator[ratelimit.State] {
	windows := rapid.Custom(func(t *rapid.T) ratelimit.Window {
		return ratelimit.Window{
			Name: texts().Draw(t, "name"), Resource: texts().Draw(t, "resource"),
			Remaining: ratelimit.Count{N: 5, Known: true}, ResetsIn: spans().Draw(t, "resets in"),
			ResetAt: ratelimit.Date{Time: time.Unix(rapid.Int64Range(1e9, 4e9).Draw(t, "reset at"), 0).UTC()},
		}
	})
	return rapid.Custom(func(t *rapid.T) ratelimit.State {
		s := ratelimit.State{Limited: rapid.Bool().Draw(t, "limited"), RetryAfter: spans().Draw(t, "retry after"), Wait: spans().Draw(t, "wait")}
		if rapid.Bool().Draw(t, "with windows") {
			s.Windows = rapid.SliceOfN(windows, 0, 3).Draw(t, "windows")
		}
		if rapid.Bool().Draw(t, "with ignored") {
			s.Ignored = []ratelimit.Ignored{{Header: "x-ratelimit-limit", Value: "-1", Why: "-1 stands for unknown"}}
		}
		return s
	})
}
