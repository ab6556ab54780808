package kittest

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
)

// Cases returns the files that [Run] needs, sorted.
func Cases() []string { return slices.Sorted(maps.Keys(cases)) }

// cases return what an outcome lacks; empty if it is as the case needs it.
var cases = map[string]func(outcome) string{
	"success":                    answers,
	"structured_answer":          structured,
	"tool_call":                  func(o outcome) string { return calls(o, 1) },
	"two_parallel_calls_one_bad": func(o outcome) string { return calls(o, 2) },
	"invalid_json_arguments":     invalidArguments,
	"refusal":                    refusal,
	"length":                     length,
	"rate_limit":                 rateLimit,
	"overloaded":                 overloaded,
	"error_in_200":               transport,
	"broken_stream":              transport,
	"slow_response":              slow,
	"garbage":                    transport,
	"stream_text":                streamText,
	"stream_tool_call":           streamCall,
	"stream_error":               transport,
}

func unless(ok bool, want string) string {
	if ok {
		return ""
	}
	return want
}

func answers(o outcome) string {
	ok := o.err == nil && o.reply.Text != "" && len(o.reply.Calls) == 0 && o.reply.Usage.APICalls == 1
	return unless(ok, "a text, no call, one API call")
}

func structured(o outcome) string {
	ok := o.err == nil && json.Valid([]byte(o.reply.Text)) && o.asked.Output != nil
	return unless(ok, "an ask with an output schema, and JSON as the text")
}

func calls(o outcome, n int) string {
	ok := o.err == nil && len(o.reply.Calls) == n && o.reply.Finish == message.ToolUse
	return unless(ok, "calls as many as the case names, finish reason tool_use")
}

func invalidArguments(o outcome) string {
	broken := slices.ContainsFunc(o.reply.Calls,
		func(c message.Call) bool { return !json.Valid([]byte(c.Arguments)) })
	return unless(broken || o.failure.Plane == fault.Correction,
		"a call whose arguments are no JSON, or a failure that the model is told of")
}

func refusal(o outcome) string {
	said := o.reply.Refusal != "" || o.reply.Finish == message.ContentFilter
	return unless(said || o.failure.Class == fault.Refusal || o.failure.Class == fault.ContentFilter,
		"a refusal")
}

func length(o outcome) string {
	return unless(o.err == nil && o.reply.Finish == message.Length, "finish reason length")
}

func rateLimit(o outcome) string {
	return unless(transport(o) == "" && o.failure.Class == fault.RateLimit && o.failure.RetryAfter > 0,
		"a rate limit with the wait asked for")
}

func overloaded(o outcome) string {
	ok := o.failure.Class == fault.Overloaded || o.failure.Class == fault.Unavailable
	return unless(transport(o) == "" && ok, "class overloaded or unavailable")
}

func transport(o outcome) string {
	return unless(o.err != nil && o.failure.Plane == fault.Transport, "a failure of the transport plane")
}

func slow(o outcome) string {
	return unless(o.hung && o.err != nil, "a response that hangs")
}

func streamText(o outcome) string {
	return unless(o.err == nil && o.asked.Stream != nil && len(o.deltas) > 1 && o.reply.Text != "",
		"a stream of text in several pieces")
}

func streamCall(o outcome) string {
	return unless(o.err == nil && o.asked.Stream != nil && len(o.deltas) > 0 && len(o.reply.Calls) > 0,
		"a streamed call")
}
