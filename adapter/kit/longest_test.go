package kit

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

// What providers say to a request for a longer reply than the model can write.
func TestARefusalSaysHowLongAReplyCanBe(t *testing.T) {
	for said, most := range map[string]int64{
		"max_tokens is too large: 83333. This model supports at most 16384 completion tokens, whereas you provided 83333.":                                             16384,
		"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 500000 instead.":                                                128000,
		"The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32000 instead.": 12288,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                                                                         8192,
		"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]":                                                                           8192,
		"max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5":                                                       64000,
		"Unable to submit request because it has a maxOutputTokens value of 83333 but the supported range is from 1 (inclusive) to 65537 (exclusive).":                 65536,
		"max_tokens (900) cannot exceed 800. Reduce the output tokens.":                                                                                                800,
		"`max_tokens` must be less than or equal to `800`, the most that this model writes":                                                                            800,
		"too many tokens: max tokens must be less than or equal to 800 - received 900.":                                                                                800,
		"The maximum tokens you requested exceeds the model limit of 800. Try a lower value.":                                                                          800,
		"This model supports at most 4 stop sequences":                                                                                                                 0,
		"Invalid 'n': integer above maximum value. Expected a value <= 8, but got 9 instead.":                                                                          0,
		"This model's maximum context length is 8192 tokens":                                                                                                           0,
		"Range of max_tokens should be [1, 99999999999999999999]":                                                                                                      0,
	} {
		h := &Head{Provider: "example", Status: http.StatusBadRequest, Refusal: []byte(`{"error":{"message":"` + said + `","type":"invalid_request_error"}}`)}
		f := fault.FailureOf(h.Fail(t.Context(), Trouble{}))
		assert.Equal(t, most, f.MaxReply, said)
		assert.Equal(t, most > 0, f.Message == said+" ("+longestAdvice+")", f.Message)
	}
}

func TestOnlyARefusalSaysHowLongAReplyCanBe(t *testing.T) {
	h := &Head{Provider: "example", Status: http.StatusInternalServerError, Refusal: []byte(`{"error":{"message":"Range of max_tokens should be [1, 8192]"}}`)}
	assert.Zero(t, fault.FailureOf(h.Fail(t.Context(), Trouble{})).MaxReply)
}
