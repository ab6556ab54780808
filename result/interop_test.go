package result_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
)

// Nothing is lost if another language reads a document of each form and writes it again.
func TestInterop(t *testing.T) {
	for _, c := range []struct{ interpreter, script string }{{"python3", "reemit.py"}, {"node", "reemit.mjs"}} {
		t.Run(c.interpreter, func(t *testing.T) {
			program, err := exec.LookPath(c.interpreter)
			if err != nil {
				t.Skipf("no %s on this machine: the round trip through it is not tested here", c.interpreter)
			}
			reemit := func(docs ...string) (there []json.RawMessage) {
				file := filepath.Join(t.TempDir(), "wire.json")
				require.NoError(t, os.WriteFile(file, []byte("["+strings.Join(docs, ",")+"]"), 0o600))
				out, err := exec.Command(program, filepath.Join("..", "testdata", "interop", c.script), file).Output()
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(out, &there))
				require.Len(t, there, len(docs))
				return there
			}
			for name, r := range fullResults() {
				var docs []string
				for _, form := range result.Forms() {
					docs = append(docs, encode(t, form, r))
				}
				for n, there := range reemit(docs...) {
					form := result.Forms()[n]
					assert.JSONEq(t, docs[n], string(there))
					assert.Equal(t, r, decode(t, form, string(there)), "%s as %s: %s", name, form, there)
				}
			}
			conversation := result.Conversation[json.RawMessage, json.RawMessage]{
				Reply: "What coat length do you like? ☃", State: json.RawMessage(`{"factors":["size"]}`), Result: fullResults()["in progress"],
			}
			doc, err := json.Marshal(conversation)
			require.NoError(t, err)
			var back result.Conversation[json.RawMessage, json.RawMessage]
			require.NoError(t, json.Unmarshal(reemit(string(doc))[0], &back))
			assert.Equal(t, conversation, back)
		})
	}
}

// fullResults are results with every field set.
func fullResults() map[string]raw {
	meta := result.Meta{
		Content: "Hello", Confidence: new(0.65), Warnings: []string{"Image quality was poor", "naïve “quotes” \u2028"},
		Execution: result.Execution{
			Duration: 1234567891 * time.Nanosecond, Model: "gpt-4o-mini", Provider: "openai", RetryCount: new(0), Timestamp: "2024-01-26T15:30:00Z",
			Usage: result.Usage{Usage: message.Usage{InputTokens: 100, OutputTokens: 50, CacheReadTokens: 10, CacheWriteTokens: 5, APICalls: 1}, TotalTokens: 150},
			Cost:  result.Cost{Input: 0.001, Output: 0.002, CacheRead: 0.0001, CacheWrite: 0.00000002, Total: 0.0033},
		},
		Provider: result.ProviderData{RequestID: "req_abc123", RawHeaders: result.Headers{"x-ratelimit-remaining-tokens-day": "500000"}},
		Finish:   message.Stop,
		RateLimit: ratelimit.State{
			Limited: true, RetryAfter: ratelimit.In(1500 * time.Millisecond), Wait: ratelimit.In(45 * time.Second),
			Windows: []ratelimit.Window{{
				Name: "requests_per_minute", Resource: "requests", Remaining: ratelimit.Of(0), Limit: ratelimit.Of(60),
				ResetsIn: ratelimit.In(45 * time.Second), ResetAt: ratelimit.Date{Time: time.Unix(1234567890, 500000000).UTC()},
			}},
			Ignored: []ratelimit.Ignored{{Header: "x-ratelimit-limit", Value: "-1", Why: "-1 stands for unknown"}},
		},
		Metadata: json.RawMessage(`{"factorsCollected":2,"requiredFactors":4}`),
		Extra: result.Extra{
			result.AgentResult:   {"/usage/requests": json.RawMessage(`3`), "/trace": json.RawMessage(`null`)},
			result.ModelResponse: {"/x~1y": json.RawMessage(`[true]`)},
		},
	}
	success := raw{Status: result.StatusSuccess, Data: json.RawMessage(`{"breed":"Maine Coon","weights":[4.5,8]}`), Meta: meta}
	success.Message = "OK"
	failure := raw{Status: result.StatusError, Meta: meta, Error: result.Error{
		Class: fault.Overloaded, Type: "APIError", Message: "", StatusCode: 529, Retryable: new(true), Original: json.RawMessage(`{"name":"APIError"}`),
	}}
	progress := raw{Status: result.StatusInProgress, Meta: meta}
	return map[string]raw{"success": success, "error": failure, "in progress": progress}
}
