package result_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/retake-go/retake/result"
)

func FuzzResultEnvelope(f *testing.F) {
	fuzz(f, result.ResultEnvelope,
		`{"status":"success","data":{"breed":"Maine Coon"},"confidence":0.65,"warnings":["x"],"execution":{"durationMs":1.5,"cost":0.0045,"retryCount":0,"timestamp":"2024-01-26T15:30:00Z"}}`,
		`{"status":"error","error":"llm-timeout","data":null}`, `{"status":"error","error":"not-found","execution":{}}`,
		`{"status":"in-progress","metadata":{"a":1},"retake":{"usage":{"input_tokens":1}}}`, `{"status":"sucess"}`, `{"status":`,
		`{"status":"error","error":"llm-unavailable","retake":{"error":{"class":"overloaded","retryable":null},"extra":{"agent_result":{"/x":1}}}}`)
}

func FuzzAgentResult(f *testing.F) {
	fuzz(f, result.AgentResult,
		`{"error":{"code":"rate_limit","type":"E","message":"x","status_code":"429","retryable":true},"rate_limit":{"limited":true,"retry_after":60,"windows":[{"name":"a","resource":"requests","remaining":0,"x":1}]}}`,
		`{"output":{"a":1},"content":"x","cost":{"input":0.001,"y":2},"usage":{"input_tokens":1,"total_tokens":0},"provider_data":{"raw_headers":{"A":["b",1]}}}`,
		`{"content":"x"}`, `{}`, `{"error":{}}`, `{"error":{"code":"timeout"},"output":{}}`, `{"rate_limit":{"windows":[[]]}}`)
}

func FuzzAgentResponse(f *testing.F) {
	fuzz(f, result.AgentResponse,
		`{"success":true,"result":"x","message":"OK"}`, `{"success":false,"error":"TIMEOUT","message":"","metadata":{"statusCode":0,"retryAfter":0.5,"originalError":{"headers":{"cookie":"x"}}},"retryAfterMs":500}`,
		`{"success":false,"error":"low","message":"x"}`, `{"success":true,"result":null}`)
}

func FuzzModelResponse(f *testing.F) {
	fuzz(f, result.ModelResponse, `{"success":false,"error":"RATE_LIMITED","message":"x","retryAfterMs":1500.25,"metadata":{"model":"m"}}`, `{"success":true,"message":"x"}`)
}

// fuzz tests a reader: it refuses a document with the places of its faults, or reads a result that every form
// brings back.
func fuzz(f *testing.F, form result.Form, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := result.Decode[json.RawMessage](form, doc)
		if err != nil {
			var invalid *result.InvalidError
			if !errors.As(err, &invalid) || len(invalid.Issues) == 0 {
				t.Fatalf("error without places: %v", err)
			}
			return
		}
		once := encode(t, form, r)
		if twice := encode(t, form, decode(t, form, once)); twice != once {
			t.Fatalf("%s\nfirst %s\nthen  %s", doc, once, twice)
		}
		if strings.Contains(string(doc), `retake`) {
			return // other writers may use the extension differently
		}
		for _, other := range result.Forms() {
			there := decode(t, other, encode(t, other, r))
			if a, b := print(r), print(there); a != b {
				t.Fatalf("by way of %s\nwas %s\nis  %s", other, a, b)
			}
		}
	})
}

func FuzzConversation(f *testing.F) {
	f.Add([]byte(`{"reply":"x","sessionState":{"a":1},"result":{"status":"in-progress"},"turn":3}`))
	f.Add([]byte(`{"result":{"status":"success"}}`))
	f.Add([]byte(`{"reply":null,"sessionState":null,"result":[]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var out, again result.Conversation[json.RawMessage, json.RawMessage]
		if err := out.UnmarshalJSON(doc); err != nil {
			return
		}
		once, err := out.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalJSON(once); err != nil {
			t.Fatal(err)
		}
		if twice, err := again.MarshalJSON(); err != nil || string(twice) != string(once) {
			t.Fatalf("first %s, then %s: %v", once, twice, err)
		}
	})
}
