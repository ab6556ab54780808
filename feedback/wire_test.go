package feedback_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

var (
	noon        = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	nightsIssue = fault.Issue{Pointer: "/nights", Rule: "type", Expected: "integer", Got: fault.String, Source: fault.FromSchema}
	roomIssue   = fault.Issue{Pointer: "/room", Rule: "required", Source: fault.FromSchema}
	enumIssue   = fault.Issue{Pointer: "/room", Rule: "enum", Expected: `one of "single", "double"`, Got: fault.String, Source: fault.FromSchema}
)

func booking(attempt int, prev *feedback.RetryFeedback, issues ...fault.Issue) feedback.RetryFeedback {
	return feedback.New(feedback.Input{
		Tool: "book_room", Attempt: attempt, MaxAttempts: 3, Class: fault.ToolValidation,
		Issues: issues, Prev: prev, Scheduled: attempt < 3, At: noon, Delay: 1500 * time.Millisecond, CorrelationID: "order-42",
	})
}

func TestWireForm(t *testing.T) {
	first := booking(1, nil, roomIssue, nightsIssue)
	second := booking(2, &first, roomIssue)
	answer := feedback.New(feedback.Input{Attempt: 3, MaxAttempts: 3, Class: fault.NoOutput})
	cases := map[string]struct {
		f    feedback.RetryFeedback
		want string
	}{
		"first_tool_attempt": {first, `{"source":"tool","tool_name":"book_room","attempt":1,"max_attempts":3,"error_type":"tool_validation",` +
			`"message":"nights: expected integer, got string; room: required",` +
			`"retry_scheduled_at":"2026-03-01T12:00:01.5Z","next_delay_seconds":1.5,` +
			`"issues":[{"pointer":"/nights","rule":"type","expected":"integer","got":"string","source":"schema"},` +
			`{"pointer":"/room","rule":"required","expected":"","got":"","source":"schema"}],"correlation_id":"order-42"}`},
		"second_has_a_diff": {second, `{"source":"tool","tool_name":"book_room","attempt":2,"max_attempts":3,"error_type":"tool_validation",` +
			`"message":"room: required","retry_scheduled_at":"2026-03-01T12:00:01.5Z","next_delay_seconds":1.5,` +
			`"issues":[{"pointer":"/room","rule":"required","expected":"","got":"","source":"schema"}],` +
			`"diff":{"fixed":[{"pointer":"/nights","rule":"type","expected":"integer","got":"string","source":"schema"}],` +
			`"persistent":[{"pointer":"/room","rule":"required","expected":"","got":"","source":"schema"}]},"correlation_id":"order-42"}`},
		"last_answer": {answer, `{"source":"structured_output","tool_name":null,"attempt":3,"max_attempts":3,"error_type":"no_output",` +
			`"message":"neither text nor a tool call","issues":[]}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(c.f)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			var back feedback.RetryFeedback
			require.NoError(t, json.Unmarshal(got, &back))
			assert.Equal(t, c.f, back)
		})
	}
}

func TestWireRoundTripIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := feedback.New(genInput(nil).Draw(t, "first"))
		f := feedback.New(genInput(&first).Draw(t, "second"))
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var back feedback.RetryFeedback
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !assert.ObjectsAreEqual(f, back) {
			t.Fatalf("%s\n%#v\n%#v", text, f, back)
		}
	})
}

func TestSecondsAreExact(t *testing.T) {
	cases := map[string]struct {
		text string
		want time.Duration
	}{
		"zero":               {"0", 0},
		"zero_with_point":    {"0.000", 0},
		"one_nanosecond":     {"0.000000001", 1},
		"python_repr":        {"1e-09", 1},
		"exponent_up":        {"1.5E+3", 1500 * time.Second},
		"trailing_zeros":     {"2.50000000000000000000", 2500 * time.Millisecond},
		"largest":            {"9223372036.854775807", 1<<63 - 1},
		"not_a_float":        {"0.1", 100 * time.Millisecond},
		"many_digits":        {"123456789.123456789", 123456789123456789},
		"huge_exponent_zero": {"0e99", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := booking(1, nil, roomIssue)
			require.NoError(t, json.Unmarshal([]byte(scheduled(`"2026-03-01T12:00:00Z"`, c.text)), &f))
			assert.Equal(t, c.want, f.Schedule.Delay)
		})
	}
}

func scheduled(at, delay string) string {
	return `{"source":"tool","tool_name":"t","attempt":1,"max_attempts":3,"error_type":"tool_validation","message":"m",` +
		`"retry_scheduled_at":` + at + `,"next_delay_seconds":` + delay + `,"issues":[]}`
}

func TestUnmarshalRefuses(t *testing.T) {
	good := `"tool_name":"t","attempt":1,"max_attempts":3,"error_type":"tool_validation","message":"m","issues":[]`
	cases := map[string]struct{ text, want string }{
		"finer_than_a_nanosecond": {scheduled(`"2026-03-01T12:00:00Z"`, "0.0000000001"), "feedback: /next_delay_seconds must be a JSON number of seconds"},
		"negative_delay":          {scheduled(`"2026-03-01T12:00:00Z"`, "-1"), "/next_delay_seconds"},
		"overflow":                {scheduled(`"2026-03-01T12:00:00Z"`, "9223372036.854775808"), "/next_delay_seconds"},
		"absurd_exponent":         {scheduled(`"2026-03-01T12:00:00Z"`, "1e999999999"), "/next_delay_seconds"},
		"delay_as_text":           {scheduled(`"2026-03-01T12:00:00Z"`, `"1.5"`), "/next_delay_seconds"},
		"no_time":                 {scheduled(`"noon"`, "1"), "feedback: /retry_scheduled_at must be an RFC 3339 time"},
		"time_alone":              {`{"source":"tool","retry_scheduled_at":"2026-03-01T12:00:00Z",` + good + `}`, "/next_delay_seconds"},
		"delay_alone":             {`{"source":"tool","next_delay_seconds":1,` + good + `}`, "/retry_scheduled_at"},
		"unknown_source":          {`{"source":"prompt",` + good + `}`, `feedback: /source must be "tool" or "structured_output"`},
		"answer_with_a_tool":      {`{"source":"structured_output",` + good + `}`, "feedback: /tool_name must be null"},
		"unknown_member":          {`{"source":"tool","colour":1,` + good + `}`, "feedback: /colour must be strict JSON"},
		"member_twice":            {`{"source":"tool","source":"tool",` + good + `}`, "feedback: /source must be strict JSON"},
		"wrong_kind":              {`{"source":"tool","tool_name":"t","attempt":"1"}`, "feedback: /attempt must be strict JSON"},
		"no_attempt":              {`{"source":"tool","tool_name":"t","max_attempts":3,"error_type":"x","message":""}`, "feedback: /attempt must be 1 or more"},
		"nothing":                 {`{}`, "feedback: /max_attempts must be 1 or more"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := booking(2, nil, roomIssue)
			before := f
			err := f.UnmarshalJSON([]byte(c.text))
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, before, f, "the receiver is left alone")
		})
	}
}

func TestMarshalRefusesWhatCannotBeReadBack(t *testing.T) {
	_, err := json.Marshal(feedback.RetryFeedback{})
	require.ErrorContains(t, err, "/source")
	f := booking(1, nil, roomIssue)
	f.Schedule = &feedback.Schedule{At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	_, err = json.Marshal(f)
	require.ErrorContains(t, err, "years 0 to 9999")
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(scheduled(`"2026-03-01T12:00:00Z"`, "1.5e-3")))
	f.Add([]byte(scheduled(`"2026-03-01T12:00:00+02:00"`, "0")))
	f.Add([]byte(`{"source":"structured_output","tool_name":null,"attempt":1,"max_attempts":-1,"error_type":"x","message":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var one, two feedback.RetryFeedback
		if one.UnmarshalJSON(data) != nil {
			return
		}
		text, err := one.MarshalJSON()
		require.NoError(t, err)
		require.NoError(t, two.UnmarshalJSON(text))
		require.Equal(t, one, two)
		require.LessOrEqual(t, len(feedback.Render(one, feedback.DefaultLimits())), feedback.DefaultLimits().MaxBytes)
	})
}
