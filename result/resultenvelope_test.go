package result_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/result"
)

func TestResultEnvelopeConfidenceExamples(t *testing.T) {
	photo := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":{"breed":"Maine Coon"},"confidence":0.65}`)
	assert.True(t, photo.IsSuccess())
	assert.True(t, photo.Below(0.8), "low confidence: verify with another agent")
	assert.JSONEq(t, `{"breed":"Maine Coon"}`, string(photo.Data))

	sure := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":{"valid":true},"confidence":0.98}`)
	assert.False(t, sure.Below(0.8), "high confidence: proceed")

	refusal := roundTrip(t, result.ResultEnvelope, `{"status":"error","error":"llm-refusal","confidence":0.7}`)
	assert.Equal(t, fault.Refusal, refusal.Error.Class)
	assert.Equal(t, new(0.7), refusal.Confidence)
	assert.False(t, refusal.Retryable())

	progress := roundTrip(t, result.ResultEnvelope, `{"status":"in-progress","confidence":0.5,"metadata":{"factorsCollected":2,"requiredFactors":4}}`)
	assert.True(t, progress.IsInProgress())
	assert.JSONEq(t, `{"factorsCollected":2,"requiredFactors":4}`, string(progress.Metadata))
}

func TestResultEnvelopeWarningsExamples(t *testing.T) {
	persian := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":{"breed":"Persian"},"warnings":[
		"Image quality was poor, confidence may be lower","Breed database last updated 6 months ago"]}`)
	assert.Len(t, persian.Warnings, 2)
	roundTrip(t, result.ResultEnvelope, `{"status":"success","data":{"name":"Fluffy"},"warnings":[
		"Name validation was lenient due to unusual characteristics"]}`)
}

func TestResultEnvelopeExecutionMetadataExamples(t *testing.T) {
	agent := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":{"characteristics":{}},"execution":{"durationMs":1234,
		"tokensUsed":450,"cost":0.0045,"model":"gpt-4o-mini","provider":"openai","timestamp":"2024-01-26T15:30:00Z"}}`)
	assert.Equal(t, 1234*time.Millisecond, agent.Execution.Duration)
	assert.EqualValues(t, 450, agent.Execution.Usage.Tokens())
	assert.Equal(t, 0.0045, agent.Execution.Cost.Amount())
	assert.Equal(t, "gpt-4o-mini", agent.Execution.Model)
	assert.Equal(t, "openai", agent.Execution.Provider)
	assert.Nil(t, agent.Execution.RetryCount, "the orchestrator sets it, not the agent")
	started, ok := agent.Execution.Started()
	require.True(t, ok)
	assert.Equal(t, time.Date(2024, 1, 26, 15, 30, 0, 0, time.UTC), started)

	wrapped := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":{"characteristics":{}},"execution":{"durationMs":3456,
		"tokensUsed":1200,"cost":0.012,"model":"gpt-4o-mini","provider":"openai","retryCount":2,"timestamp":"2024-01-26T15:30:00Z"}}`)
	assert.Equal(t, new(2), wrapped.Execution.RetryCount)

	first := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":1,"execution":{"retryCount":0}}`)
	assert.Equal(t, new(0), first.Execution.RetryCount, "0 is a first try, and not unknown")
}

// The specification's orchestrator sums three attempts; the third succeeds.
func TestResultEnvelopeOrchestratorSums(t *testing.T) {
	attempt := func(r raw, ms time.Duration, tokens int64, cost float64) raw {
		r.Execution.Duration, r.Execution.Usage.TotalTokens, r.Execution.Cost.Total = ms*time.Millisecond, tokens, cost
		r.Execution.Model, r.Execution.Provider = "gpt-4o-mini", "openai"
		return r
	}
	one := attempt(result.Failure[json.RawMessage](fault.Timeout, ""), 1111, 350, 0.0035)
	one.Execution.Timestamp = "2024-01-26T15:30:00Z"
	two := attempt(result.Failure[json.RawMessage](fault.RateLimit, ""), 1111, 400, 0.004)
	two.Execution.Timestamp = "2024-01-26T15:30:01Z"
	three := attempt(result.Success(json.RawMessage(`{"characteristics":{}}`)), 1234, 450, 0.0045)
	three.Execution.Timestamp = "2024-01-26T15:30:02Z"

	assert.JSONEq(t, `{"status":"success","data":{"characteristics":{}},"execution":{"durationMs":3456,"tokensUsed":1200,
		"cost":0.012,"model":"gpt-4o-mini","provider":"openai","retryCount":2,"timestamp":"2024-01-26T15:30:00Z"}}`,
		encode(t, result.ResultEnvelope, result.Total(one, two, three)))

	failed := make([]raw, 5)
	for i := range failed {
		failed[i] = one
	}
	assert.Equal(t, new(4), result.Total(failed...).Execution.RetryCount, "failed 5 times: max retries exceeded")
	assert.Equal(t, new(0), result.Total(one).Execution.RetryCount)
	assert.Error(t, result.Total[int]().Validate(), "of no attempts there is no result")
}

// Every form brings back every error of the specification.
func TestResultEnvelopeErrorConstants(t *testing.T) {
	for name, retryable := range map[string]bool{
		"llm-refusal": false, "llm-invalid-output": false, "llm-timeout": true, "llm-rate-limit": true, "llm-token-limit": false,
		"llm-unavailable": true, "event-timeout": true, "event-unavailable": true, "event-rejected": false,
		"event-invalid-response": false, "invalid-input": false,
	} {
		t.Run(name, func(t *testing.T) {
			r := roundTrip(t, result.ResultEnvelope, `{"status":"error","error":"`+name+`"}`)
			assert.Equal(t, retryable, r.Retryable())
		})
	}
	own := roundTrip(t, result.ResultEnvelope, `{"status":"error","error":"breed-not-found"}`)
	assert.Equal(t, fault.Class("breed-not-found"), own.Error.Class, "agents define domain-specific errors")
	near := roundTrip(t, result.ResultEnvelope, `{"status":"error","error":"not-found"}`)
	assert.Equal(t, fault.NotFound, near.Error.Class, "a name of another vocabulary is understood, and kept")
}

func TestResultEnvelopeOneShotAgentOutput(t *testing.T) {
	for _, doc := range []string{
		`{"result":{"status":"success","data":{"breed":"Persian"}}}`,
		`{"result":{"status":"error","error":"llm-rate-limit"}}`,
		`{"result":{"status":"error","error":"llm-timeout","execution":{"retryCount":4}},"traceId":"t-1"}`,
	} {
		var out result.OneShot[json.RawMessage]
		require.NoError(t, json.Unmarshal([]byte(doc), &out))
		again, err := json.Marshal(out)
		require.NoError(t, err)
		assert.JSONEq(t, doc, string(again))
	}
	var out result.OneShot[json.RawMessage]
	err := json.Unmarshal([]byte(`{"result":{"status":"in-progress"}}`), &out)
	assert.EqualError(t, err, `result_envelope: result/status: expected "success" or "error", as a single turn is not in progress, got "in-progress"`)
	assert.EqualError(t, json.Unmarshal([]byte(`{"results":{}}`), &out), "result_envelope: result: required, expected object")
	assert.EqualError(t, json.Unmarshal([]byte(`{"result":{"status":"error"}}`), &out), "result_envelope: result/error: required, expected error code")
	_, err = json.Marshal(result.OneShot[int]{Result: result.InProgress[int](nil)})
	assert.ErrorContains(t, err, "a single turn is not in progress")
}

func TestResultEnvelopeConversationalAgentOutput(t *testing.T) {
	type state struct {
		Factors []string `json:"factors"`
	}
	const doc = `{"reply":"What coat length do you like?","sessionState":{"factors":["size"]},"turn":3,
		"result":{"status":"in-progress","confidence":0.5,"metadata":{"factorsCollected":2,"requiredFactors":4}}}`
	var out result.Conversation[string, state]
	require.NoError(t, json.Unmarshal([]byte(doc), &out))
	assert.Equal(t, state{[]string{"size"}}, out.State)
	assert.Equal(t, "What coat length do you like?", out.Reply)
	assert.True(t, out.Result.IsInProgress())
	again, err := json.Marshal(out)
	require.NoError(t, err)
	assert.JSONEq(t, doc, string(again))

	quiet := result.Conversation[int, json.RawMessage]{Result: result.Success(1)}
	doc2, err := json.Marshal(quiet)
	require.NoError(t, err)
	assert.JSONEq(t, `{"reply":"","result":{"status":"success","data":1}}`, string(doc2))

	assert.EqualError(t, json.Unmarshal([]byte(`{"reply":1,"sessionState":{"factors":2},"result":{"status":"success"}}`), &out),
		"result_envelope: reply: expected string, got 1")
	assert.EqualError(t, json.Unmarshal([]byte(`{"reply":"","sessionState":{"factors":2},"result":{"status":"success"}}`), &out),
		"result_envelope: sessionState/factors: expected JSON that fits Go type []string, got number")
}

// JavaScript omits undefined members, and a browser's clock has fractions of milliseconds.
func TestResultEnvelopeAsEmitted(t *testing.T) {
	nothing := roundTrip(t, result.ResultEnvelope, `{"status":"success"}`)
	assert.Nil(t, nothing.Data)
	timed := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":null,"execution":{"durationMs":0.08345699310302734,"tokensUsed":0,"cost":0}}`)
	assert.Equal(t, 83456*time.Nanosecond, timed.Execution.Duration)
	broken := roundTrip(t, result.ResultEnvelope, `{"status":"success","data":1,"execution":{"cost":{"input":0.001,"output":0.002,"audio":0.1}},"warnings":[]}`)
	assert.Equal(t, 0.003, broken.Execution.Cost.Amount())
	far := roundTrip(t, result.ResultEnvelope, `{"status":"error","error":"llm-timeout","warnings":["late"],"execution":{"region":"eu","attempts":[{"n":1}]},"v":null}`)
	assert.Equal(t, []string{"late"}, far.Warnings)

	empty := decode(t, result.ResultEnvelope, `{"status":"error","error":"llm-timeout","data":null,"confidence":null,"execution":null}`)
	assert.JSONEq(t, `{"status":"error","error":"llm-timeout"}`, encode(t, result.ResultEnvelope, empty), "null is absent")
}

func TestResultEnvelopeRefused(t *testing.T) {
	refused(t, result.ResultEnvelope, `{"status":"sucess","data":1}`, `status: expected one of "success", "error", "in-progress", got "sucess"`)
	refused(t, result.ResultEnvelope, `{"data":1}`, `status: required`)
	refused(t, result.ResultEnvelope, `{"status":"success","data":1,"error":"llm-timeout"}`, `error: expected nothing here unless the status is error`)
	refused(t, result.ResultEnvelope, `{"status":"error","data":1,"error":"llm-timeout"}`, `data: expected nothing here unless the status is success`)
	refused(t, result.ResultEnvelope, `{"status":"in-progress","data":1}`, `data: expected nothing here unless the status is success`)
	refused(t, result.ResultEnvelope, `{"status":"error"}`, `error: required, expected error code`)
	refused(t, result.ResultEnvelope, `{"status":"error","error":" "}`, `error: expected error code, a string that is not empty, got string`)
	refused(t, result.ResultEnvelope, `{"status":"success","confidence":2}`, `confidence: expected number from 0 to 1, got 2`)
	refused(t, result.ResultEnvelope, `{"status":"success","confidence":-0.1}`, `confidence: expected number from 0 to 1, got -0.1`)
	refused(t, result.ResultEnvelope, `{"status":"success","warnings":"late"}`, `warnings: expected list of strings, got string`)
	refused(t, result.ResultEnvelope, `{"status":"success","execution":[]}`, `execution: expected object, got array`)
	refused(t, result.ResultEnvelope, `{"status":"success","execution":{"durationMs":-1,"tokensUsed":1.5,"cost":-1,"retryCount":"2","timestamp":"yesterday"}}`,
		`execution/cost: expected amount in US dollars, 0 or more, got -1; execution/durationMs: expected number of milliseconds, 0 or more and at most 366 days, got -1; `+
			`execution/retryCount: expected whole number, 0 or more, got string; execution/timestamp: expected ISO 8601 time (2024-01-26T15:30:00Z), got string; `+
			`execution/tokensUsed: expected whole number, 0 or more, got 1.5`)
	refused(t, result.ResultEnvelope, `[]`, `(whole): expected object, got array`)
	refused(t, result.ResultEnvelope, ``, `(whole): expected strict JSON, which this is not from byte 0 on`)
	refused(t, result.ResultEnvelope, `{"status":"error","status":"success"}`, `status: expected a member of this name once`)
	refused(t, result.ResultEnvelope, `{"status":"error"} 1`, `(whole): expected nothing after the JSON, which ends before byte 18`)
	refused(t, result.ResultEnvelope, "{\"status\":\"\xff\"}", `(whole): expected UTF-8, which byte 11 is not`)
	refused(t, result.ResultEnvelope, `{"status":"success","execution":{"cost":1e999}}`, `execution/cost: expected amount in US dollars, 0 or more, got 1e999`)
}
