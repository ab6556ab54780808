package result_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/result"
)

type trip struct {
	City   string `json:"city"`
	Nights int    `json:"nights"`
}

func TestTypedData(t *testing.T) {
	for _, form := range result.Forms() {
		doc, err := result.Encode(form, result.Success(trip{"Lisbon", 2}))
		require.NoError(t, err)
		back, err := result.Decode[trip](form, doc)
		require.NoError(t, err)
		assert.Equal(t, trip{"Lisbon", 2}, back.Data)
	}
	_, err := result.Decode[trip](result.ResultEnvelope, []byte(`{"status":"success","data":{"city":"Lisbon","nights":"two"}}`))
	assert.EqualError(t, err, "result_envelope: data/nights: expected JSON that fits Go type int, got string")
	_, err = result.Decode[trip](result.AgentResult, []byte(`{"content":"Two nights in Lisbon"}`))
	assert.EqualError(t, err, "agent_result: content: expected JSON that fits Go type result_test.trip, got string")
	_, err = result.Encode(result.ResultEnvelope, result.Success(func() {}))
	assert.EqualError(t, err, "result: data: expected data that has a JSON form")
	_, err = result.Decode[trip](result.AgentResult, []byte(`{"retake":{"data":[1]}}`))
	assert.ErrorContains(t, err, "retake/data: expected JSON that fits Go type result_test.trip, got array")
}

func TestResultAsJSON(t *testing.T) {
	doc, err := json.Marshal(map[string]any{"r": result.Success(trip{"Porto", 1})})
	require.NoError(t, err)
	assert.JSONEq(t, `{"r":{"status":"success","data":{"city":"Porto","nights":1}}}`, string(doc))
	var r result.Result[trip]
	require.NoError(t, json.Unmarshal([]byte(`{"status":"success","data":{"city":"Porto"}}`), &r))
	assert.Equal(t, "Porto", r.Data.City)
	require.Error(t, json.Unmarshal([]byte(`{"status":"no"}`), &r))
	assert.Equal(t, "Porto", r.Data.City, "what cannot be read changes nothing")
}

func TestUnknownForm(t *testing.T) {
	_, err := result.Encode("json", result.Success(1))
	assert.EqualError(t, err, `result: no wire form "json": expected one of ["result_envelope" "agent_result" "agent_response" "model_response"]`)
	_, err = result.Decode[int]("", []byte(`{}`))
	assert.Error(t, err)
}

func TestTooMany(t *testing.T) {
	many := func(one string) string { return strings.TrimSuffix(strings.Repeat(one+",", 5000), ",") }
	wide := func() string {
		members := make([]string, 5000)
		for i := range members {
			members[i] = fmt.Sprintf(`"k%d":0`, i)
		}
		return strings.Join(members, ",")
	}()
	refused(t, result.AgentResult, `{"content":"x",`+wide+`}`, "(whole): expected at most 4096 members besides the known ones")
	refused(t, result.AgentResult, `{"usage":{`+wide+`}}`, "usage: expected at most 4096 members besides the known ones")
	refused(t, result.AgentResult, `{"provider_data":{"raw_headers":{`+wide+`}}}`, "provider_data/raw_headers: expected at most 4096 headers, got object")
	refused(t, result.AgentResult, `{"rate_limit":{"windows":[`+many("{}")+`]}}`, "rate_limit/windows: expected at most 4096 objects, got array")
	refused(t, result.AgentResult, `{"retake":{"extra":{"model_response":{`+wide+`}}}}`, "retake/extra: expected at most 4096 members, got object")
	refused(t, result.AgentResult, strings.Repeat(`{"a":`, 600)+"1"+strings.Repeat("}", 600), "(whole): expected at most 512 levels, one within the other; that at byte 2560 is deeper")
}

// A long value deep in a document is read in time that grows with its length.
func TestDeepAndLong(t *testing.T) {
	long := `"` + strings.Repeat("z", 4<<20) + `"`
	for _, doc := range []string{
		`{"content":"x","y":` + strings.Repeat(`{"a":`, 500) + long + strings.Repeat("}", 500) + "}",
		`{"content":"x","cost":{"q":` + strings.Repeat("[", 500) + long + strings.Repeat("]", 500) + "}}",
	} {
		r := decode(t, result.AgentResult, doc)
		require.Equal(t, len(doc), len(encode(t, result.AgentResult, r)))
	}
}

func TestTooLong(t *testing.T) {
	_, err := result.Decode[int](result.AgentResult, make([]byte, 16<<20+1))
	assert.EqualError(t, err, "agent_result: (whole): expected at most 16 MiB")
}

func TestValidate(t *testing.T) {
	change := func(f func(*raw)) raw {
		r := result.Success(json.RawMessage(`1`))
		f(&r)
		return r
	}
	cases := map[string]struct {
		r    raw
		want string
	}{
		"zero":                  {raw{}, "result: status: required"},
		"confidence_2":          {change(func(r *raw) { r.Confidence = new(2.0) }), "result: confidence: expected number from 0 to 1, got 2"},
		"confidence_nan":        {change(func(r *raw) { r.Confidence = new(math.NaN()) }), "result: confidence: expected number from 0 to 1, got string"},
		"cost_infinite":         {change(func(r *raw) { r.Execution.Cost.Total = math.Inf(1) }), "result: cost: expected amount in US dollars, 0 or more, got string"},
		"cost_part_negative":    {change(func(r *raw) { r.Execution.Cost.Input = -1 }), "result: cost/input: expected amount in US dollars, 0 or more, got -1"},
		"duration_negative":     {change(func(r *raw) { r.Execution.Duration = -time.Second }), "result: execution/duration_ms: expected number of milliseconds, 0 or more and at most 366 days, got -1000"},
		"retries_negative":      {change(func(r *raw) { r.Execution.RetryCount = new(-1) }), "result: execution/retry_count: expected whole number, 0 or more, got -1"},
		"tokens_negative":       {change(func(r *raw) { r.Execution.Usage.InputTokens = -1 }), "result: usage/input_tokens: expected whole number, 0 or more, got -1"},
		"timestamp":             {change(func(r *raw) { r.Execution.Timestamp = "noon" }), "result: execution/timestamp: expected ISO 8601 time (2024-01-26T15:30:00Z), got string"},
		"data_no_json":          {change(func(r *raw) { r.Data = json.RawMessage(`{`) }), "result: data: expected data that has a JSON form"},
		"metadata_no_json":      {change(func(r *raw) { r.Metadata = json.RawMessage(`{`) }), "result: metadata: expected strict JSON"},
		"success_with_error":    {change(func(r *raw) { r.Error.Message = "x" }), "result: error: expected nothing here unless the status is error"},
		"error_with_data":       {change(func(r *raw) { r.Status, r.Error.Class = result.StatusError, fault.Timeout }), "result: data: expected nothing here unless the status is success"},
		"error_without_class":   {raw{Status: result.StatusError}, "result: error/class: required, expected class of the error"},
		"error_with_message":    {raw{Status: result.StatusError, Error: result.Error{Class: "x"}, Meta: result.Meta{Message: "m"}}, "result: message: expected nothing here unless the status is success or in-progress, as an error has its own message"},
		"status_code_no_status": {raw{Status: result.StatusError, Error: result.Error{Class: "x", StatusCode: 42}}, "result: error/status_code: expected HTTP status, got 42"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, c.r.Validate(), c.want)
			_, err := result.Encode(result.AgentResult, c.r)
			require.EqualError(t, err, c.want)
		})
	}
	assert.NoError(t, result.Success(1).Validate())
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	r := raw{Status: result.StatusError, Data: json.RawMessage(`1`), Error: result.Error{Original: json.RawMessage(`{`)},
		Meta: result.Meta{Message: "m", Confidence: new(2.0), Metadata: json.RawMessage(`{`)}}
	require.EqualError(t, r.Validate(), "result: confidence: expected number from 0 to 1, got 2; data: expected nothing here unless the "+
		"status is success; error/class: required, expected class of the error; error/original: expected strict JSON; message: expected "+
		"nothing here unless the status is success or in-progress, as an error has its own message; metadata: expected strict JSON")
	refused(t, result.ResultEnvelope, `{"status":"done","confidence":2,"execution":{"retryCount":1.5}}`, "confidence: expected number from "+
		`0 to 1, got 2; execution/retryCount: expected whole number, 0 or more, got 1.5; status: expected one of "success", "error", "in-progress", got "done"`)
	refused(t, result.AgentResponse, `{"message":7}`, "message: expected string, got 7; success: required")
	refused(t, result.ResultEnvelope, `{"status":"success","confidence":2,"retake":5}`, "confidence: expected number from 0 to 1, got 2; retake: expected object, got 5")
}

func TestForeignTextNeverFails(t *testing.T) {
	r := result.Failure[json.RawMessage](fault.Unavailable, "bad \xff bytes")
	r = warned(r, "\xfe")
	for _, form := range result.Forms() {
		back := decode(t, form, encode(t, form, r))
		assert.Equal(t, "bad \ufffd bytes", back.Error.Message)
		assert.Equal(t, []string{"\ufffd"}, back.Warnings)
	}
}

// If a program that does not know the extension changes a member of the form, that member wins.
func TestTheFormsOwnMembersWinOverTheExtension(t *testing.T) {
	r := result.Failure[json.RawMessage](fault.Billing, "no credit")
	r.Execution.Usage = result.Usage{Usage: message.Usage{InputTokens: 10, OutputTokens: 5}}
	r.Execution.Cost = result.Cost{Input: 1, Output: 2}
	doc := decodeMap(t, encode(t, result.ResultEnvelope, r))
	require.Contains(t, doc, "retake")
	doc["error"] = "llm-timeout"
	doc["execution"].(map[string]any)["tokensUsed"] = 99
	doc["execution"].(map[string]any)["cost"] = 4.5
	changed, err := json.Marshal(doc)
	require.NoError(t, err)
	back := decode(t, result.ResultEnvelope, string(changed))
	assert.Equal(t, fault.Timeout, back.Error.Class)
	assert.EqualValues(t, 99, back.Execution.Usage.Tokens())
	assert.EqualValues(t, 10, back.Execution.Usage.InputTokens)
	assert.Equal(t, result.Cost{Total: 4.5}, back.Execution.Cost)

	doc["status"], doc["data"] = "success", "done"
	delete(doc, "error")
	changed, err = json.Marshal(doc)
	require.NoError(t, err)
	back = decode(t, result.ResultEnvelope, string(changed))
	assert.True(t, back.IsSuccess())
	assert.Equal(t, result.Error{}, back.Error)
}

func decodeMap(t *testing.T, doc string) map[string]any {
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(doc), &m))
	return m
}

// A kept member is written back only while it agrees with the result.
func TestKeptMembersGoOutOfDate(t *testing.T) {
	r := decode(t, result.AgentResult, `{"error":{"code":"timeout","message":"x","status_code":"504","param":"n"}}`)
	r.Error.StatusCode = 503
	assert.JSONEq(t, `{"error":{"code":"timeout","message":"x","status_code":503,"param":"n"}}`, encode(t, result.AgentResult, r))
	r.Status, r.Error, r.Data = result.StatusSuccess, result.Error{}, json.RawMessage(`{}`)
	assert.JSONEq(t, `{"output":{}}`, encode(t, result.AgentResult, r), "or the success would be read as an error")

	r = result.Success(json.RawMessage(`{}`))
	r.Extra = result.Extra{result.AgentResult: {
		"/error": json.RawMessage(`{"code":"timeout"}`), "/retake": json.RawMessage(`{"status":"error"}`), "/retake/status": json.RawMessage(`"error"`),
		"nowhere": json.RawMessage(`1`), "/output": json.RawMessage(`{"a":1}`), "/a~1b/~0": json.RawMessage(`1`),
	}}
	assert.JSONEq(t, `{"output":{},"a/b":{"~":1}}`, encode(t, result.AgentResult, r))
}

func TestUnwrap(t *testing.T) {
	data, err := result.Success(7).Unwrap()
	require.NoError(t, err)
	assert.Equal(t, 7, data)

	_, err = result.InProgress[int](nil).Unwrap()
	assert.EqualError(t, err, `result without data: status is "in-progress"`)

	_, err = result.Failure[int]("breed-not-found", "no such breed").Unwrap()
	var own *fault.ClassError
	require.ErrorAs(t, err, &own)
	assert.Equal(t, fault.Class("breed-not-found"), own.Class)
	assert.Equal(t, new(false), result.FromError[int](err).Error.Retryable)

	_, err = result.Failure[int](fault.ModelNotFound, "x").Unwrap()
	var missing *fault.ModelNotFoundError
	require.ErrorAs(t, err, &missing)
	var unwrapped *result.UnwrapError
	require.ErrorAs(t, err, &unwrapped)
	assert.Equal(t, result.StatusError, unwrapped.Status)
}

func TestFromError(t *testing.T) {
	assert.True(t, result.FromError[int](nil).IsSuccess())
	tool := result.FromError[int](&fault.ToolValidationError{Tool: "book_room"})
	assert.Equal(t, fault.ToolValidation, tool.Error.Class)
	assert.Equal(t, "ToolValidationError", tool.Error.Type)
	own := result.FromError[int](&fault.ClassError{Class: "low_confidence", Cause: errors.New("0.4")})
	assert.Equal(t, result.Error{Class: "low_confidence", Message: "low_confidence: 0.4", Retryable: new(false)}, own.Error)
	assert.Equal(t, fault.Unknown, result.FromError[int](errors.New("?")).Error.Class)
	assert.Empty(t, result.Success(1).UserMessage())

	failed := result.Failure[int](fault.RateLimit, "slow down")
	failed.Error.Retryable, failed.Error.Type = new(false), "Busy"
	_, err := failed.Unwrap()
	assert.Equal(t, failed.Error, result.FromError[string](fmt.Errorf("agent: %w", err)).Error, "it comes back as it was")
}

// Only an error is retryable, whatever else a result has.
func TestOnlyErrorsAreRetryable(t *testing.T) {
	for status, want := range map[result.Status]bool{result.StatusError: true, result.StatusSuccess: false, result.StatusInProgress: false} {
		r := result.Result[int]{Status: status, Error: result.Error{Class: fault.Timeout}}
		assert.Equal(t, want, r.Retryable(), status)
		r.Error.Class, r.Error.Retryable = fault.Refusal, new(true)
		assert.Equal(t, want, r.Retryable(), status)
	}
}

// "Retryable" means: run the agent again. After exhausted corrections that does not help, so no form says
// so, whether the result was made in Go or read.
func TestAnExhaustedCorrectionIsNotRetryableInAnyForm(t *testing.T) {
	for _, class := range fault.Correction.Classes() {
		for _, made := range []result.Result[int]{
			result.Failure[int](class, "x"),
			result.FromError[int](&fault.ClassError{Class: class, Cause: errors.New("x")}),
			{Status: result.StatusError, Error: result.Error{Class: class, Message: "x"}},
		} {
			assert.False(t, made.Retryable(), class)
			for _, form := range result.Forms() {
				doc, err := result.Encode(form, made)
				require.NoError(t, err)
				assert.NotContains(t, string(doc), `"retryable":true`, "%s: %s", form, class)
				read, err := result.Decode[int](form, doc)
				require.NoError(t, err)
				assert.False(t, read.Retryable(), "%s: %s", form, class)
			}
		}
	}
	for form, doc := range map[result.Form]string{
		result.ResultEnvelope: `{"status":"error","error":"llm-invalid-output"}`,
		result.AgentResponse:  `{"success":false,"error":"VALIDATION_ERROR","message":"x"}`,
		result.ModelResponse:  `{"success":false,"error":"VALIDATION_ERROR","message":"x"}`,
	} {
		read, err := result.Decode[int](form, []byte(doc))
		require.NoError(t, err)
		assert.False(t, read.Retryable(), doc)
	}
	refused := result.FromResponse[int](fault.Response{Provider: "groq", Status: 400, Code: "tool_use_failed"})
	assert.Equal(t, fault.ToolValidation, refused.Error.Class)
	assert.Equal(t, new(false), refused.Error.Retryable)
}

func TestExecutionPlus(t *testing.T) {
	parts := result.Execution{Cost: result.Cost{Input: 0.1, Output: 0.2}, Usage: result.Usage{Usage: message.Usage{InputTokens: 1, OutputTokens: 2, APICalls: 1}}}
	total := result.Execution{Cost: result.Cost{Total: 0.7}, Usage: result.Usage{TotalTokens: 10}, Model: "m", Provider: "p", RetryCount: new(1)}
	sum := parts.Plus(total)
	assert.Equal(t, result.Cost{Input: 0.1, Output: 0.2, Total: 1}, sum.Cost)
	assert.EqualValues(t, 13, sum.Usage.Tokens())
	assert.Equal(t, "m", sum.Model)
	assert.Equal(t, new(1), sum.RetryCount)
	own := result.Execution{Provider: "own"}.Plus(total)
	assert.Equal(t, []string{"", "own"}, []string{own.Model, own.Provider}, "a model is not named beside another's provider")
	assert.Zero(t, parts.Plus(parts).Usage.TotalTokens, "nobody gives a total")
	assert.EqualValues(t, 13, total.Plus(parts).Usage.TotalTokens)
	assert.True(t, math.IsNaN(result.Cost{Total: math.NaN()}.Plus(total.Cost).Total))
	assert.True(t, math.IsInf(result.Cost{Total: math.Inf(1)}.Plus(total.Cost).Total, 1))
	huge := result.Execution{Duration: math.MaxInt64, Usage: result.Usage{TotalTokens: math.MaxInt64}}
	assert.Equal(t, time.Duration(math.MaxInt64), huge.Plus(huge).Duration)
	assert.Equal(t, int64(math.MaxInt64), huge.Plus(huge).Usage.Tokens())
	assert.True(t, math.IsInf(result.Cost{Total: math.MaxFloat64}.Plus(result.Cost{Total: math.MaxFloat64}).Total, 1))
}

func TestStarted(t *testing.T) {
	want := time.Date(2024, 1, 26, 15, 30, 0, 0, time.UTC)
	for _, text := range []string{
		"2024-01-26T15:30:00Z", "2024-01-26T15:30:00.000Z", "2024-01-26T17:30:00+02:00", "2024-01-26T17:30:00+0200",
		"2024-01-26T15:30:00", "2024-01-26 15:30:00", "2024-01-26T15:30:00.000000", "2024-01-26T15:30Z", "2024-01-26 15:30:00+00:00",
	} {
		got, ok := result.Execution{Timestamp: text}.Started()
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	_, ok := result.Execution{}.Started()
	assert.False(t, ok)
}

func BenchmarkEncode(b *testing.B) {
	r := result.Success(trip{"Lisbon", 2})
	r.Execution.Duration, r.Execution.RetryCount = time.Second, new(1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := result.Encode(result.ResultEnvelope, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	doc := []byte(`{"error":{"code":"rate_limit","message":"x","status_code":429,"retryable":true},"usage":{"input_tokens":5}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := result.Decode[trip](result.AgentResult, doc); err != nil {
			b.Fatal(err)
		}
	}
}
