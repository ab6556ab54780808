package looptest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// AttemptText returns an attempt as scenarios and [AssertAttempts] write it:
//
//	book_room attempt 1 of 3: tool_validation, again in 1s (backoff)
//	book_room attempt 2 of 3: passed (accepted), 120+30 tokens
func AttemptText(a session.Attempt) string {
	at := machine.Position{Action: a.Action, Attempt: a.Attempt, MaxAttempts: a.MaxAttempts}
	text := at.On(a.Plane) + ": "
	switch {
	case a.Retry:
		text += string(a.Class) + ", again"
	case a.Class != "":
		text += string(a.Class) + ", no more"
	case a.Reason == policy.ReasonAccepted:
		text += "passed"
	default:
		text += "ended"
	}
	if a.Delay > 0 {
		text += " in " + a.Delay.String()
	}
	text += " (" + string(a.Reason) + ")"
	if a.Usage.Total() > 0 {
		text += fmt.Sprintf(", %d+%d tokens", a.Usage.InputTokens, a.Usage.OutputTokens)
	}
	if a.Cost > 0 {
		text += fmt.Sprintf(", cost %d", a.Cost)
	}
	return text
}

// AssertAttempts fails the test unless the [AttemptText] of each attempt equals want. It reports whether all
// are equal.
func AssertAttempts(t testing.TB, attempts []session.Attempt, want ...string) bool {
	t.Helper()
	var got []string
	for _, a := range attempts {
		got = append(got, AttemptText(a))
	}
	return equal(t, "attempts", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// AssertAnswer fails the test unless the run succeeded with the answer want: its text or, for a structured
// answer, an equal JSON value. It reports whether it did.
func AssertAnswer(t testing.TB, r loop.Result, err error, want string) bool {
	t.Helper()
	if err != nil {
		t.Errorf("the run has no answer: %+v\nwant: %s", err, want)
		return false
	}
	if r.Value == nil {
		return equal(t, "answer", r.Text, want)
	}
	return equal(t, "answer", compact(string(r.Value)), compact(want))
}

// AssertStopped fails the test unless err is the error of a run or action that stopped with the reason. It
// returns that error, or nil.
func AssertStopped(t testing.TB, err error, reason policy.Reason) *loop.RetryExhaustedError {
	t.Helper()
	stopped, ok := errors.AsType[*loop.RetryExhaustedError](err)
	if !ok || stopped.Reason != reason {
		t.Errorf("it did not stop by %s: %+v", string(reason), err)
		return nil
	}
	return stopped
}

func equal(t testing.TB, what, got, want string) bool {
	t.Helper()
	if got != want {
		t.Errorf("other %s than wanted\ngot:\n%s\nwant:\n%s", what, got, want)
	}
	return got == want
}

// compact returns the canonical form of JSON, and other text unchanged.
func compact(text string) string {
	raw, err := canon.JSON([]byte(text))
	if err != nil {
		return text
	}
	return string(raw)
}
