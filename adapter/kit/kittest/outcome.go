package kittest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// outcome is the result of one call of Reply.
type outcome struct {
	asked   loop.Request
	reply   message.Reply
	err     error
	failure fault.Failure
	limits  ratelimit.State
	deltas  []loop.Delta
	hung    bool
	url     string
}

// ask makes the call and checks what is true of every outcome.
func ask(t testing.TB, s *Server, model loop.Model, req loop.Request) outcome {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := outcome{asked: req, url: s.URL, hung: slices.ContainsFunc(s.script,
		func(p response) bool { return p.order == "hang" })}
	s.whenItHangs(cancel)
	if req.Stream != nil {
		req.Stream = func(d loop.Delta) { o.deltas = append(o.deltas, d) }
	}
	before := toJSON(t, req.Messages)
	o.reply, o.err = model.Reply(ctx, req)
	assert.Equal(t, before, toJSON(t, req.Messages), "the request was changed")
	if o.err != nil {
		o.failed(t)
	} else {
		o.replied(t, len(s.Requests()))
	}
	return o
}

// failureOf returns the failure that an error is by its own account.
func failureOf(err error) (f fault.Failure, own bool) {
	e, own := errors.AsType[interface {
		error
		Failure() fault.Failure
	}](err)
	if own {
		f = e.Failure()
	}
	return f, own
}

func mustFail(t *testing.T, err error) fault.Failure {
	t.Helper()
	require.Error(t, err)
	f, own := failureOf(err)
	require.True(t, own)
	return f
}

func (o *outcome) failed(t testing.TB) {
	o.failure = fault.Classify(fault.Response{Err: o.err}).Failure()
	if own, ok := failureOf(o.err); ok {
		o.failure = own
	}
	if e, ok := errors.AsType[*ratelimit.LimitedError](o.err); ok {
		o.limits = e.State
	}
	beside := o.reply
	beside.Source = message.Source{} // that of the error
	assert.Empty(t, beside, "a reply beside an error")
	assert.NotContains(t, o.err.Error(), Key, "the key is in the error's text")
	assert.NotContains(t, o.failure.Message, Key, "the key is in the failure's message")
	if o.hung {
		assert.ErrorIs(t, o.err, context.Canceled)
	}
}

func (o *outcome) replied(t testing.TB, requests int) {
	assert.Equal(t, int64(requests), o.reply.Usage.APICalls, "API calls")
	var ids []string
	for _, c := range o.reply.Calls {
		assert.NotEmpty(t, c.ID, "a call without an id")
		assert.NotContains(t, ids, c.ID, "two calls have the same id")
		ids = append(ids, c.ID)
	}
	if o.asked.Stream == nil || o.reply.Refusal != "" {
		return
	}
	var text, thinking strings.Builder
	streamed := make([]message.Call, len(o.reply.Calls))
	for _, d := range o.deltas {
		text.WriteString(d.Text)
		thinking.WriteString(d.Thinking)
		if d.Call >= 0 && assert.Less(t, d.Call, len(streamed), "a delta of a call that the reply has not") {
			streamed[d.Call].Name += d.Name
			streamed[d.Call].Arguments += d.Arguments
		}
	}
	assert.Equal(t, o.reply.Text, text.String(), "the deltas' text")
	assert.Equal(t, o.reply.Thinking, thinking.String(), "the deltas' thoughts")
	for n, c := range o.reply.Calls {
		assert.Equal(t, c.Name, streamed[n].Name, "the deltas' name of call %d", n)
		assert.Equal(t, c.Arguments, streamed[n].Arguments, "the deltas' arguments of call %d", n)
	}
}

// wireOutcome is the section "outcome".
type wireOutcome struct {
	Reply   *message.Reply `json:"reply,omitempty"`
	Error   string         `json:"error,omitempty"`
	Failure *wireFailure   `json:"failure,omitempty"`
	Limits  *wireLimits    `json:"limits,omitempty"`
	Deltas  []wireDelta    `json:"deltas,omitempty"`
}

type wireFailure struct {
	Plane      fault.Plane   `json:"plane"`
	Class      fault.Class   `json:"class"`
	Tool       string        `json:"tool,omitempty"`
	Issues     []fault.Issue `json:"issues,omitempty"`
	RetryAfter string        `json:"retry_after,omitempty"`
	Final      bool          `json:"final,omitempty"`
}

// wireLimits leaves out what depends on the time of the test: dates, and the time until them.
type wireLimits struct {
	Limited    bool         `json:"limited"`
	RetryAfter string       `json:"retry_after,omitempty"`
	Windows    []wireWindow `json:"windows,omitempty"`
}

type wireWindow struct {
	Name      string          `json:"name"`
	Remaining ratelimit.Count `json:"remaining,omitzero"`
	Limit     ratelimit.Count `json:"limit,omitzero"`
	Resets    bool            `json:"resets,omitempty"`
}

type wireDelta struct {
	Text      string `json:"text,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	Call      *int   `json:"call,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
}

// golden is the outcome in the form of the files.
func (o outcome) golden(t testing.TB) string {
	w := wireOutcome{}
	if o.err == nil {
		w.Reply = &o.reply
	} else {
		w.Error = strings.ReplaceAll(o.err.Error(), o.url, "http://server")
		f := o.failure
		w.Failure = &wireFailure{Plane: f.Plane, Class: f.Class, Tool: f.Tool, Issues: f.Issues,
			Final: f.Final}
		if o.failure.RetryAfter > 0 {
			w.Failure.RetryAfter = o.failure.RetryAfter.String()
		}
		w.Limits = showLimits(o.limits)
	}
	for _, d := range o.deltas {
		shown := wireDelta{Text: d.Text, Thinking: d.Thinking, Name: d.Name, Arguments: d.Arguments}
		if d.Call >= 0 {
			shown.Call = &d.Call
		}
		w.Deltas = append(w.Deltas, shown)
	}
	if o.hung {
		w.Deltas = nil
		if w.Error != "" {
			w.Error = "(as far as the client had come)"
		}
	}
	return toJSON(t, w)
}

func showLimits(s ratelimit.State) *wireLimits {
	w := &wireLimits{Limited: s.Limited}
	if s.RetryAfter.Known {
		w.RetryAfter = s.RetryAfter.Duration.String()
	}
	for _, v := range s.Windows {
		w.Windows = append(w.Windows, wireWindow{v.Name, v.Remaining, v.Limit,
			v.ResetsIn.Known || !v.ResetAt.Time.IsZero()})
	}
	if !w.Limited && w.RetryAfter == "" && w.Windows == nil {
		return nil
	}
	return w
}

func toJSON(t testing.TB, v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	return b.String()
}
