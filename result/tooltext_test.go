package result_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/result"
)

func TestAnEnvelopeAsTheTextOfAnMCPTool(t *testing.T) {
	said := result.Success[json.RawMessage](nil)
	said.Content = "Which city?"
	asking := result.InProgress[json.RawMessage](nil)
	asking.Content = "Which city?"
	cases := map[string]struct {
		r    result.Result[json.RawMessage]
		want string
		bad  bool
	}{
		"data":             {result.Success(json.RawMessage(`{"room": 12}`)), `{"room":12}`, false},
		"a string":         {result.Success(json.RawMessage(`"Hello \"you\""`)), `Hello "you"`, false},
		"content alone":    {said, "Which city?", false},
		"nothing":          {result.Success[json.RawMessage](nil), "done", false},
		"in progress":      {asking, "Which city?", false},
		"just in progress": {result.InProgress[json.RawMessage](nil), "in progress", false},
		"an error": {
			result.Failure[json.RawMessage](fault.Timeout, "POST https://internal.example: i/o timeout"),
			"llm-timeout: " + fault.UserMessage(fault.Timeout, fault.Metadata{}), true,
		},
		"an error of its own": {
			result.Failure[json.RawMessage]("breed-not-found", "no row"),
			"breed-not-found: " + fault.UserMessage("breed-not-found", fault.Metadata{}), true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text, bad := c.r.ToolText()
			assert.Equal(t, c.want, text)
			assert.Equal(t, c.bad, bad)
		})
	}
}
