package result_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/result"
)

func TestHeadersKeepNoSecrets(t *testing.T) {
	secret := []string{
		"Authorization", "Proxy-Authorization", "Set-Cookie", "set-cookie2", "Cookie", "X-API-Key", "api-key", "x-goog-api-key",
		"X-Amz-Security-Token", "x-auth-token", "X_Secret_Thing", "openai-key-id", "Idempotency-Key", "apikey", "X-Password", "x-csrf-token",
	}
	kept := []string{
		"x-ratelimit-remaining-tokens", "X-Ratelimit-Remaining-Tokens-Day", "anthropic-ratelimit-input-tokens-remaining", "retry-after",
		"x-request-id", "x-tokenlimit-remaining", "content-type", "x-keyboard", "x-secretary", "author",
	}
	headers := map[string][]string{}
	for _, name := range append(secret, kept...) {
		headers[name] = []string{"hunter2"}
	}
	clean := result.CleanHeaders(headers)
	assert.Len(t, clean, len(kept))
	for _, name := range kept {
		assert.Equal(t, "hunter2", clean[strings.ToLower(name)], name)
	}
	assert.Nil(t, result.CleanHeaders(nil))
	assert.Equal(t, result.Headers{"via": "a, b, c"}, result.CleanHeaders(map[string][]string{"Via": {"a", "b"}, "via": {"c"}, "": {"x"}}))
}

// No secret is written: not from a document, not from its unknown members, not from a field set in Go.
func TestNoSecretIsWritten(t *testing.T) {
	docs := map[result.Form][]string{
		result.AgentResult: {
			`{"content":"x","provider_data":{"raw_headers":{"Authorization":"hunter2","SET-COOKIE":["hunter2"],"a":"b"},"api_key":"hunter2"}}`,
			`{"content":"x","rate_limit":{"limited":true,"raw_headers":{"x-api-key":"hunter2","x-ratelimit-remaining-tokens":"5"}}}`,
			`{"content":"x","request":{"headers":[["authorization","hunter2"],["accept","*"]],"rawHeaders":["Cookie","hunter2","Via","x"],"deep":[{"headers":{"cookie":"hunter2"}}]}}`,
			`{"content":"x","error":null,"authorization":{"scheme":"hunter2"},"response_headers":"cookie: hunter2","headers":{"set":{"cookie":"hunter2"}}}`,
		},
		result.AgentResponse: {
			`{"success":false,"error":"TIMEOUT","message":"","metadata":{"originalError":{"config":{"headers":{"Authorization":"hunter2"}},"apiKey":"hunter2","code":"E"}}}`,
			`{"success":false,"error":"TIMEOUT","message":"","metadata":{"originalError":{"request":{"password":"hunter2"}},"accessToken":"hunter2"}}`,
		},
		result.ResultEnvelope: {`{"status":"success","retake":{"raw_headers":{"authorization":"hunter2"},"extra":{"agent_result":{"/headers":{"cookie":"hunter2"},"/apiKey/id":"hunter2"}}}}`},
	}
	for _, form := range result.Forms() {
		for _, doc := range docs[form] {
			r := decode(t, form, doc)
			for _, out := range result.Forms() {
				assert.NotContains(t, encode(t, out, r), "hunter2", doc)
			}
			throughAll(t, r)
		}
	}
	r := decode(t, result.AgentResult, docs[result.AgentResult][2])
	assert.JSONEq(t, `{"content":"x","request":{"headers":[["accept","*"]],"rawHeaders":["Via","x"],"deep":[{"headers":{}}]}}`, encode(t, result.AgentResult, r))
	r.Provider.RawHeaders = result.Headers{"Authorization": "hunter2", "Via": "x"}
	r.Extra = result.Extra{result.AgentResult: {"/headers": []byte(`{"cookie":"hunter2"}`)}}
	r.Status, r.Data = result.StatusError, nil
	r.Error = result.Error{Class: "x", Original: []byte(`{"headers":{"cookie":"hunter2"}}`)}
	for _, out := range result.Forms() {
		assert.NotContains(t, encode(t, out, r), "hunter2")
	}
}
