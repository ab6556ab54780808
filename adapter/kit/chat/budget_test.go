package chat_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
)

// What is left of a budget is more than the model can write: it refuses, in either API, and is asked for
// less.
func TestABudgetAsksForNoMoreThanTheModelCanWrite(t *testing.T) {
	for api, c := range map[chat.API]struct{ field, refusal, answer string }{
		chat.Chat: {"max_completion_tokens",
			"max_tokens is too large: %d. This model supports at most 16384 completion tokens, whereas you provided %[1]d.",
			`{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`},
		chat.Responses: {"max_output_tokens",
			"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got %d instead.",
			`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi."}]}],"usage":{"input_tokens":9,"output_tokens":2}}`},
	} {
		t.Run(string(api), func(t *testing.T) {
			var asked []int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]json.RawMessage
				var most int64
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
				assert.NoError(t, json.Unmarshal(body[c.field], &most))
				asked = append(asked, most)
				w.Header().Set("Content-Type", "application/json")
				if most > 16384 {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":%q}}`, fmt.Sprintf(c.refusal, most), c.field)
					return
				}
				fmt.Fprint(w, c.answer)
			}))
			defer server.Close()
			model, err := chat.New(nil, chat.Config{URL: server.URL + "/v1", Key: "k", Model: "gpt-4o", API: api})
			require.NoError(t, err)
			set := policy.DefaultSet()
			set.Spending.Run.TotalTokens = new(int64(500_000))
			l, err := loop.New(model, loop.Config{Policy: &set})
			require.NoError(t, err)
			r, err := l.Run(t.Context(), nil, loop.Input{Prompt: "Hello."})
			require.NoError(t, err)
			assert.Equal(t, "Hi.", r.Text)
			require.Len(t, asked, 2)
			assert.Greater(t, asked[0], int64(490_000))
			assert.EqualValues(t, 16384, asked[1])
		})
	}
}
