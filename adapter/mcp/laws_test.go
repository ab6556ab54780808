package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/tool"
)

func anyRemote(change func(*Config)) *remote {
	cfg := DefaultConfig()
	change(&cfg)
	return &remote{cfg: cfg, link: newLink(nil, nil), subject: subject{server: "s", what: "get"}}
}

// over is a result after it was sent over the wire.
func over(t interface{ Fatal(...any) }, r *sdk.CallToolResult) *sdk.CallToolResult {
	raw, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back sdk.CallToolResult
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

func drawJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.String().AsAny(),
		rapid.SampledFrom([]string{"7", "line\u2028break", "{}", "[1]", "null", "<&>", " {\"a\": 1} "}).AsAny(),
	}
	if depth > 0 {
		leaves = append(leaves, rapid.SliceOfN(drawJSON(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), drawJSON(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(leaves...)
}

// A retake client gets the result of a retake tool unchanged, byte for byte.
func TestResultsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := encode(drawJSON(2).Draw(t, "value"))
		require.NoError(t, err)
		near, err := tool.Raw("get", "", []byte(anyObject), func(_ context.Context, _ json.RawMessage) (json.RawMessage, error) { return raw, nil })
		require.NoError(t, err)
		out := near.Invoke(t.Context(), []byte("{}"))
		require.NoError(t, out.Err)
		s := &served{tool: near}
		got, err := anyRemote(func(c *Config) { c.MaxResultBytes = 1 << 20 }).read(over(t, s.result(t.Context(), out)))
		require.NoError(t, err)
		assert.Equal(t, string(out.Result), string(got.value))
	})
}

// Issues come back unchanged, whatever their words.
func TestIssuesComeBackAsTheyWere(t *testing.T) {
	s := &served{}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringN(0, 40, 100)
		issues := fault.SortIssues(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fault.Issue {
			return fault.Issue{
				Pointer: "/" + word.Draw(t, "pointer"), Rule: "r" + word.Draw(t, "rule"), Expected: word.Draw(t, "expected"),
				Got: fault.Integer, Source: fault.FromTool,
			}
		}), 1, 5).Draw(t, "issues"))
		_, err := anyRemote(func(*Config) {}).read(over(t, s.result(t.Context(), tool.Outcome{Issues: issues})))
		var again *tool.AskAgainError
		require.ErrorAs(t, err, &again)
		assert.Equal(t, issues, again.Issues)
	})
}

func TestProgressGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := -1.0
		for range 5 {
			raw, err := encode(drawJSON(1).Draw(t, "payload"))
			require.NoError(t, err)
			if p, grows := advance(last, raw); grows {
				assert.Greater(t, p.Progress, last)
				last = p.Progress
			}
		}
	})
}

// Any answer of a server ends the call in one way, and the text for the model is bounded.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"a"}]}`, `{"content":[],"structuredContent":{"a":1}}`, `{"isError":true,"content":[]}`,
		`{"content":[{"type":"resource","resource":{"uri":"u","blob":"AAAA"}},{"type":"image","data":"AA==","mimeType":"image/png"}]}`,
		`{"isError":true,"_meta":{"io.github.retake-go/outcome":"ask_again"},"structuredContent":{"issues":[{"rule":"a"}]}}`,
		`{"isError":true,"_meta":{"io.github.retake-go/outcome":"broke","io.github.retake-go/class":"network"},"content":[]}`,
		`{"isError":true,"content":[{"type":"text","text":"validating \"arguments\": validating /properties: "}]}`,
		`{"isError":true,"content":[{"type":"text","text":"Input validation error: a: [{\"path\":[1,null,{}]}]"}]}`,
		`{"isError":true,"content":[{"type":"text","text":"1 validation error for a\na..b\n x [type=t"}]}`,
		`{"content":[{"type":"text","text":"{\"a\":1,\"a\":2}"}]}`, `{"structuredContent":[[[[1e999]]]]}`, `{"resultType":"input_required"}`,
	} {
		f.Add([]byte(seed), 64)
	}
	f.Fuzz(func(t *testing.T, doc []byte, most int) {
		var res sdk.CallToolResult
		if json.Unmarshal(doc, &res) != nil {
			return
		}
		r := anyRemote(func(c *Config) { c.MaxResultBytes = max(most, 2) })
		out, err := tool.Raw("get", "", []byte(anyObject), func(context.Context, json.RawMessage) (json.RawMessage, error) {
			a, err := r.read(&res)
			return a.value, err
		})
		require.NoError(t, err)
		got := out.Invoke(t.Context(), []byte("{}"))
		var panicked *fault.PanicError
		require.NotErrorAs(t, got.Err, &panicked)
		assert.LessOrEqual(t, len(got.Result), max(most, len("null"))+maxNote)
		assert.LessOrEqual(t, len(got.Failed), r.cfg.MaxErrorBytes+maxNote)
	})
}

// A schema is used or refused. A used one does not refuse every object.
func FuzzInputSchema(f *testing.F) {
	for _, seed := range []string{`{"type":"object"}`, `{"anyOf":[false,{"type":"array"}]}`, `{"not":{}}`, `false`, `{"required":["a"],"properties":{"a":false}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var v any
		if json.Unmarshal(doc, &v) != nil {
			return
		}
		raw, err := inputSchema(v, DefaultConfig())
		if err != nil {
			assert.NotEmpty(t, strings.TrimSpace(err.Error()))
			return
		}
		_, err = tool.Raw("get", "", raw, func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		require.NoError(t, err)
	})
}
