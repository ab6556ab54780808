package turns_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// made are calls of add with the given arguments, as a runtime claims them after a reply of them.
func made(t *testing.T, run *turns.Run, arguments ...string) (all []*turns.Call) {
	var reply message.Reply
	for n, a := range arguments {
		reply.Calls = append(reply.Calls, message.Call{ID: string(rune('a' + n)), Name: "add", Arguments: a})
	}
	_, err := run.Reply(t.Context(), reply)
	require.NoError(t, err)
	for _, c := range reply.Calls {
		call, _ := run.Claim(c.ID, c.Name, c.Arguments)
		require.NotNil(t, call)
		all = append(all, call)
	}
	return all
}

// does is the outcome of a tool.
func does(t *testing.T, c *turns.Call, result string, err error) tool.Outcome {
	return c.Invoke(t.Context(), func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), err })
}

// A call that equals another of its reply has the result of that one, also if the two are made at the same
// time.
func TestACallThatEqualsAnotherHasItsResult(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		told   string
		failed bool
	}{
		"the result": {nil, "Not run: it equals another call of the same reply, which has the result: 3\n" +
			"If it has to be done twice, make the call again in another reply.", false},
		"the failure": {tool.Fail("no till"), "Not run: it equals another call of the same reply, which ended so: The tool failed: \"no till\"", true},
	} {
		t.Run(name, func(t *testing.T) {
			run := asked(t, nil)
			all := made(t, run, `{"n": 1}`, `{"n": 1}`, `{"n": 2}`)
			told := make(chan string)
			go func() {
				all[1].Wait(t.Context())
				text, refused, err := all[1].Refused()
				assert.True(t, refused)
				assert.NoError(t, err)
				assert.Equal(t, c.failed, all[1].Failed())
				told <- text
			}()
			_, refused, _ := all[0].Refused()
			require.False(t, refused)
			_, err := all[0].End(t.Context(), does(t, all[0], "3", c.err))
			require.NoError(t, err)
			assert.Equal(t, c.told, <-told, "the third call still runs")
		})
	}
}

// The same holds for calls of earlier replies, where the policy does not run equal calls.
func TestACallThatEqualsAnEarlierOneHasItsResult(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.EqualCalls = policy.EqualRecorded
	run := asked(t, &set)
	first := made(t, run, `{"n": 1}`)[0]
	_, err := first.End(t.Context(), does(t, first, "3", nil))
	require.NoError(t, err)
	require.NoError(t, run.Next(t.Context(), addTools(t), nil))
	again := made(t, run, `{"n": 1}`)[0]
	again.Wait(t.Context())
	text, refused, err := again.Refused()
	require.NoError(t, err)
	assert.True(t, refused)
	assert.Equal(t, "Not run again: the same call was made before in this run. Its result: 3", text)
	assert.False(t, again.Failed())
}

// A call that ends while an earlier one is paused is answered at once, and its outcome counts when the paused
// one has ended. The paused call has not failed.
func TestAPausedCallHasNotFailed(t *testing.T) {
	run := asked(t, nil)
	all := made(t, run, `{"n": 1}`, `{"n": 2}`, `{"n": 3}`, `{"n": 1}`)
	for _, c := range all[:3] {
		_, refused, _ := c.Refused()
		require.False(t, refused)
	}
	lost := make(chan turns.Answer)
	go func() {
		answer, err := all[2].End(t.Context(), does(t, all[2], "", errors.New("no light")))
		assert.NoError(t, err)
		lost <- answer
	}()
	all[0].Leave()
	broke, err := all[1].End(t.Context(), does(t, all[1], "", tool.TryLater(errors.New("busy"), 0)))
	require.NoError(t, err)
	assert.False(t, broke.Again, "it cannot wait")
	assert.NotEmpty(t, broke.Text)
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", (<-lost).Text)
	all[3].Wait(t.Context())
	text, refused, err := all[3].Refused()
	require.NoError(t, err)
	assert.True(t, refused)
	assert.Equal(t, "Not run: it equals another call of the same reply, which has no result yet.", text)
	assert.True(t, run.Paused(), "the run waits for the call")

	resumed, _ := run.Claim("a", "add", `{"n": 1}`)
	require.NotNil(t, resumed)
	answer, err := resumed.End(t.Context(), does(t, resumed, "1", nil))
	require.NoError(t, err)
	assert.True(t, answer.Own)
	require.NoError(t, run.Next(t.Context(), addTools(t), nil))
	_, err = run.Reply(t.Context(), message.Reply{Text: "Done."})
	require.NoError(t, err)
	result, err := run.End()
	require.NoError(t, err)
	for _, a := range result.Attempts {
		assert.NotEqual(t, policy.ReasonFailedForGood, a.Reason)
	}
}

// A call that is to be made again needs an answer before that if another one of its reply is paused.
func TestACallThatIsToBeMadeAgainBesideAPausedOne(t *testing.T) {
	run := asked(t, nil)
	all := made(t, run, `{"n": 1}`, `{"n": 2}`)
	for _, c := range all {
		_, refused, _ := c.Refused()
		require.False(t, refused)
	}
	all[1].Leave()
	answer, err := all[0].End(t.Context(), does(t, all[0], "", tool.TryLater(errors.New("busy"), 0)))
	require.NoError(t, err)
	assert.Equal(t, turns.Answer{Text: "No result: the call failed, and is not made again while another one of its reply is paused. " +
		"Its effect may or may not have happened."}, answer)
}

// The runtime finds tools by the names that the model wrote. A name that retake could read as another's is
// unknown.
func TestANameThatTheRuntimeDoesNotKnowIsUnknown(t *testing.T) {
	run := asked(t, nil)
	_, err := run.Reply(t.Context(), message.Reply{Calls: []message.Call{{ID: "a", Name: "functions.add", Arguments: `{"n": 1}`}}})
	require.NoError(t, err)
	call, _ := run.Claim("a", "functions.add", `{"n": 1}`)
	require.NotNil(t, call)
	text, refused, err := call.Refused()
	require.NoError(t, err)
	assert.True(t, refused)
	assert.Contains(t, text, "there is no tool named functions.add, so nothing was run for this call (attempt 1 of 3).\n- tools that exist: add")
}
