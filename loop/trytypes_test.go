package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// served is an error of a client that says which status it got.
type served int

func (s served) Error() string       { return fmt.Sprint("status ", int(s)) }
func (s served) HTTPStatusCode() int { return int(s) }

// answered is one of another client.
type answered int

func (a answered) Error() string   { return fmt.Sprint("answer ", int(a)) }
func (a answered) StatusCode() int { return int(a) }

// slow is a timeout that is no net.Error.
type slow bool

func (s slow) Error() string { return "payment accepted, but the receipt is late" }
func (s slow) Timeout() bool { return bool(s) }

// ways are the ways to make the tries of an action: each returns the error of its end.
func waysToTry(t *testing.T) map[string]func(*loop.Action, func(context.Context) error, ...loop.Option) error {
	do := func(s *session.Session) func(*loop.Action, func(context.Context) error, ...loop.Option) error {
		return func(a *loop.Action, try func(context.Context) error, opts ...loop.Option) error {
			opts = append(opts, loop.WithClock(looptest.NewClock()))
			_, err := loop.Do(t.Context(), s, a, func(ctx context.Context, _ loop.Attempt) (int, error) { return 0, try(ctx) }, opts...)
			return err
		}
	}
	return map[string]func(*loop.Action, func(context.Context) error, ...loop.Option) error{
		"do": do(nil), "do_in_a_session": do(newSession(t)),
		"attempts": func(a *loop.Action, try func(context.Context) error, opts ...loop.Option) error {
			tries := loop.Attempts(t.Context(), nil, a, append(opts, loop.WithClock(looptest.NewClock()))...)
			for one := range tries.All() {
				one.End(try(t.Context()))
			}
			return tries.Err()
		},
	}
}

// A try is made again for an error whose type says that time helps, and never for its words.
func TestATryIsMadeAgainForTypesAndNotForWords(t *testing.T) {
	const paid = "payment accepted, but reading the receipt failed: connection reset"
	reset := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for name, c := range map[string]struct {
		err   error
		class fault.Class
		tries int
	}{
		"words":                {errors.New(paid), fault.Unknown, 1},
		"words_of_a_status":    {errors.New("429 Too Many Requests"), fault.Unknown, 1},
		"words_of_a_timeout":   {errors.New("context deadline exceeded"), fault.Unknown, 1},
		"malformed":            {fmt.Errorf("payment accepted, but: %w", json.Unmarshal([]byte("{"), new(int))), fault.Unknown, 1},
		"no_timeout":           {slow(false), fault.Unknown, 1},
		"cancelled_by_itself":  {&url.Error{Op: "Get", URL: "u", Err: context.Canceled}, fault.Cancelled, 1},
		"not_found":            {answered(404), "", 1},
		"no_status":            {answered(14), fault.Unknown, 1},
		"net":                  {reset, fault.Network, 4},
		"net_within":           {fmt.Errorf("paying: %w", &url.Error{Op: "Post", URL: "u", Err: reset}), fault.Network, 4},
		"reset_by_the_system":  {fmt.Errorf("paying: %w", syscall.ECONNRESET), fault.Network, 4},
		"interrupted":          {syscall.EINTR, fault.Network, 4},
		"disk_full":            {fmt.Errorf("payment accepted, but: %w", syscall.ENOSPC), fault.Unknown, 1},
		"not_permitted":        {syscall.EPERM, fault.Unknown, 1},
		"net_timeout":          {&net.DNSError{IsTimeout: true}, fault.Timeout, 4},
		"timeout":              {slow(true), fault.Timeout, 4},
		"timeout_of_its_own":   {fmt.Errorf("paying: %w", context.DeadlineExceeded), fault.Timeout, 4},
		"http_status":          {fmt.Errorf("paying: %w", served(503)), fault.Unavailable, 4},
		"status":               {answered(429), fault.RateLimit, 4},
		"ours":                 {&fault.TransportError{Cause: errors.New(paid)}, fault.Unavailable, 4},
		"a_provider's":         {&fault.ProviderError{Class: fault.Overloaded}, fault.Overloaded, 4},
		"ours_over_its_cause":  {&fault.TransportError{Class: fault.Auth, Cause: reset}, fault.Auth, 1},
		"ours_of_other_planes": {fmt.Errorf("again: %w", &fault.StructuredOutputError{}), fault.StructuredOutput, 3},
	} {
		for _, a := range []func() *loop.Action{loop.FinalAnswer, func() *loop.Action { return loop.ToolCall("pay") }} {
			for way, run := range waysToTry(t) {
				t.Run(name+"/"+way, func(t *testing.T) {
					tries := 0
					err := run(a(), func(context.Context) error { tries++; return c.err })
					assert.Equal(t, c.tries, tries)
					var e *loop.RetryExhaustedError
					require.ErrorAs(t, err, &e)
					if c.class != "" {
						assert.Equal(t, c.class, e.Failure.Class)
					}
				})
			}
		}
	}
}

// Words count where the policy asks for them, but never for an action made for a tool.
func TestWordsCountWhereThePolicyAsksForThem(t *testing.T) {
	for way, run := range waysToTry(t) {
		for action, want := range map[string]int{"": 4, "pay": 1} {
			a, tries := loop.ToolCall(action), 0
			a.Transport.ClassifyWords = true
			err := run(a, func(context.Context) error { tries++; return errors.New("connection reset by peer") })
			require.Error(t, err)
			assert.Equal(t, want, tries, "%s of %q", way, action)
		}
	}
	a := loop.FinalAnswer()
	a.Policy.ClassifyWords = true
	_, err := a.Machine()
	require.ErrorContains(t, err, "global.classify_words: has no meaning for corrections; write it under transport")
}

// The caller's classifier goes before the types of others, after our own, and leaves an error to them.
func TestTheCallerMayClassifyTheErrorsOfTries(t *testing.T) {
	busy := errors.New("E1042")
	classify := loop.WithClassifier(func(err error) fault.Verdict {
		switch {
		case errors.Is(err, busy):
			return fault.Classify(fault.Response{Status: 429, Headers: map[string][]string{"Retry-After": {"7"}}, Err: err})
		case strings.Contains(err.Error(), "status 503"):
			return fault.Verdict{Class: "closed", Plane: fault.Correction}
		}
		return fault.Verdict{}
	})
	for way, run := range waysToTry(t) {
		for _, c := range []struct {
			err   error
			class fault.Class
			tries int
		}{
			{busy, fault.RateLimit, 4}, {served(503), "closed", 3}, {served(500), fault.Unavailable, 4}, {errors.New("odd"), fault.Unknown, 1},
			{&fault.TransportError{Class: fault.Auth, Cause: busy}, fault.Auth, 1},
		} {
			tries, a := 0, loop.ToolCall("pay")
			a.Policy.RetryableErrors = append(a.Policy.RetryableErrors, "closed")
			err := run(a, func(context.Context) error { tries++; return c.err }, classify)
			var e *loop.RetryExhaustedError
			require.ErrorAs(t, err, &e, way)
			assert.Equal(t, c.class, e.Failure.Class, way)
			assert.Equal(t, c.tries, tries, way)
			if c.err == busy {
				assert.EqualValues(t, 7e9, e.Failure.RetryAfter, way)
			}
			if c.class == "closed" {
				require.NotNil(t, e.Feedback, way)
				assert.Equal(t, fault.Class("closed"), e.Feedback.ErrorType, way)
			}
		}
	}
}

// The feedback without a session is made by the same rules.
func TestTheFeedbackOfATryIsClassifiedAsTheTry(t *testing.T) {
	a := loop.ToolCall("pay")
	a.Policy.RetryableErrors = append(a.Policy.RetryableErrors, "closed")
	classify := loop.WithClassifier(func(error) fault.Verdict { return fault.Verdict{Class: "closed", Plane: fault.Correction} })
	var seen []fault.Class
	_, err := loop.Do(t.Context(), nil, a, func(_ context.Context, at loop.Attempt) (int, error) {
		seen = append(seen, at.Feedback().ErrorType)
		return 0, errors.New("connection reset")
	}, classify)
	require.Error(t, err)
	assert.Equal(t, []fault.Class{"", "closed", "closed"}, seen)
}

// The error names what would have had it retried.
func TestAnErrorThatIsNotRetriedSaysWhatWouldBe(t *testing.T) {
	for way, run := range waysToTry(t) {
		err := run(loop.ToolCall("pay"), func(context.Context) error { return errors.New("connection reset") })
		assert.EqualError(t, err, "pay: attempt 1 of 4 on the transport plane: unknown is not retried: the error's type does not say that another "+
			"try helps: return a *fault.TransportError, or an error with HTTPStatusCode() int, or give WithClassifier: connection reset", way)
		err = run(loop.FinalAnswer(), func(context.Context) error { return errors.New("connection reset") })
		assert.EqualError(t, err, "answer: attempt 1 of 4 on the transport plane: unknown is not retried: the error's type does not say that another "+
			"try helps: return a *fault.TransportError, or an error with HTTPStatusCode() int, give WithClassifier, or set classify_words in the "+
			"transport policy: connection reset", way)
		listed := loop.ToolCall("pay")
		listed.Transport.RetryableErrors = append(listed.Transport.RetryableErrors, fault.Unknown)
		err = run(listed, func(context.Context) error { return errors.New("connection reset") })
		assert.ErrorIs(t, err, policy.ReasonAttemptsExhausted, way)
	}
}
