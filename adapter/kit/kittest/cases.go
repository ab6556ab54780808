package kittest

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
)

// caseNames returns the files that [Run] needs, sorted.
func caseNames() []string { return slices.Sorted(maps.Keys(cases)) }

// need is what the outcome of a case must have, in words.
type need struct {
	want string
	met  func(outcome) bool
}

var failsTransport = need{"a failure of the transport plane", transport}

func transport(o outcome) bool { return o.err != nil && o.failure.Plane == fault.Transport }

var cases = map[string]need{
	"success": {"a text, no call, one API call", func(o outcome) bool {
		return o.err == nil && o.reply.Text != "" && len(o.reply.Calls) == 0 && o.reply.Usage.APICalls == 1
	}},
	"structured_answer": {"an ask with an output schema, and JSON as the text", func(o outcome) bool {
		return o.err == nil && json.Valid([]byte(o.reply.Text)) && o.asked.Output != nil
	}},
	"tool_call":                  calls(1),
	"two_parallel_calls_one_bad": calls(2),
	"invalid_json_arguments": {"a call whose arguments are no JSON, or a failure that the model is told of",
		func(o outcome) bool {
			return o.failure.Plane == fault.Correction || slices.ContainsFunc(o.reply.Calls,
				func(c message.Call) bool { return !json.Valid([]byte(c.Arguments)) })
		}},
	"refusal": {"a refusal", func(o outcome) bool {
		return o.reply.Refusal != "" || o.reply.Finish == message.ContentFilter ||
			o.failure.Class == fault.Refusal || o.failure.Class == fault.ContentFilter
	}},
	"length": {"finish reason length", func(o outcome) bool {
		return o.err == nil && o.reply.Finish == message.Length
	}},
	"rate_limit": {"a rate limit with the wait asked for", func(o outcome) bool {
		return transport(o) && o.failure.Class == fault.RateLimit && o.failure.RetryAfter > 0
	}},
	"overloaded": {"class overloaded or unavailable", func(o outcome) bool {
		return transport(o) && (o.failure.Class == fault.Overloaded || o.failure.Class == fault.Unavailable)
	}},
	"error_in_200":  failsTransport,
	"broken_stream": failsTransport,
	"slow_response": {"a response that hangs", func(o outcome) bool { return o.hung && o.err != nil }},
	"garbage":       failsTransport,
	"stream_text": {"a stream of text in several pieces", func(o outcome) bool {
		return o.err == nil && o.asked.Stream != nil && len(o.deltas) > 1 && o.reply.Text != ""
	}},
	"stream_tool_call": {"a streamed call", func(o outcome) bool {
		return o.err == nil && o.asked.Stream != nil && len(o.deltas) > 0 && len(o.reply.Calls) > 0
	}},
	"stream_error": failsTransport,
}

func calls(n int) need {
	return need{"calls as many as the case names, finish reason tool_use", func(o outcome) bool {
		return o.err == nil && len(o.reply.Calls) == n && o.reply.Finish == message.ToolUse
	}}
}
