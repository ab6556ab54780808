package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

var classifyCommand = command{
	name:    "classify",
	summary: "classifies a provider's error: whether a retry may help, and what to tell a user",
	example: "retake classify -status 429 body.json",
	usage:   []string{"classify [-status N] [-provider NAME] [-now T] [-since TIME] [-until TIME] [-json] [ERROR...]"},
	about: `
ERROR is a file, a folder of files, or standard input with what a provider sent, in one of three forms:

  - the body alone, as {"error": {...}} or any other text; -status says what HTTP status it came with
  - a whole response with its status line and headers, as curl -i prints it
  - an object of {"provider", "model", "status", "type", "code", "message", "headers", "body"}, all optional;
    "body" is raw text or JSON, "status" (three digits, or 0 for none) and "code" are a number or a string,
    and the value of a header is a string or a list of strings

` + textsOfJournals + `
Of a journal each failure is shown, with the class it was recorded with.

A Retry-After with a date is turned into a wait by the time of the response: -now, or else its Date header.

JSON: {"code", "plane", "retryable", "names": {"result_envelope", "agent_result", "agent_error"},
"retry_after_ms", "user_message"}, or null if nothing went wrong. "retry_after_ms" is absent if the server
asks for no wait. For several files each line is {"file", "result"}, with "file" as FILE:LINE for a failure
in a journal.`,
	task: newTask[classify],
}

type classify struct {
	texts
	Now      moment     `flag:"now T" help:"the time T at which the response came: 2030-01-02T15:04:05Z, or seconds since the epoch"`
	Status   httpStatus `flag:"status N" help:"the HTTP status N that the error came with"`
	Provider string     `flag:"provider NAME" help:"whose error it is: a NAME such as groq"`
}

func (c *classify) run(e *env) error {
	tell := func(name string, v fault.Verdict) error {
		return c.answer(e, name, v, func() { writeFault(e, v) })
	}
	return c.each(e, reader{
		inJournals: "failure",
		text: func(name string, text []byte) error {
			r, err := c.read(text)
			if err != nil {
				return err
			}
			r.Now = responseTime(c.Now.Time, r.Headers)
			return tell(name, fault.Classify(r))
		},
		event: func(name string, ev *machine.Event) (bool, error) {
			f := failureOf(ev)
			if f == nil {
				return false, nil
			}
			return true, tell(name, recordedVerdict(*f))
		},
	})
}

// failureOf returns the failure of a model call, tool or try that an event reports; nil if it reports none.
func failureOf(ev *machine.Event) *fault.Failure {
	switch {
	case ev.Tool != nil:
		return ev.Tool.Failure
	case ev.Try != nil && ev.Try.Failure.Failed():
		return &ev.Try.Failure
	}
	return ev.Failure
}

// recordedVerdict returns the verdict that a failure had when it was recorded.
func recordedVerdict(f fault.Failure) fault.Verdict {
	return fault.Verdict{Class: f.Class, Plane: f.Plane, Retryable: f.Class.Retryable() && !f.Final,
		Message: f.Message, RetryAfter: f.RetryAfter, Asked: f.RetryAfter > 0,
		Metadata: fault.Metadata{RetryAfter: f.RetryAfter}}
}

// read reads an error in any of the three forms.
func (c *classify) read(text []byte) (r fault.Response, err error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0 && c.Status == 0:
		return r, fmt.Errorf("it is empty: give an error, or its -status")
	case bytes.HasPrefix(trimmed, []byte("HTTP/")):
		r.Headers, r.Body, _ = splitResponse(trimmed)
		if words := strings.Fields(string(trimmed[:min(len(trimmed), 64)])); len(words) > 1 {
			r.Status, _ = strconv.Atoi(words[1])
		}
	case bytes.HasPrefix(trimmed, []byte("{")) && (c.Status == 0 || json.Valid(trimmed)):
		if r, err = fault.ReadResponse(trimmed); err != nil {
			return r, err
		}
	default:
		r.Body = text
	}
	if c.Status != 0 && r.Status != 0 && r.Status != int(c.Status) {
		return r, misused("-status is %d, and the error says %d: leave one of them out", c.Status, r.Status)
	}
	if c.Status != 0 {
		r.Status = int(c.Status)
	}
	if c.Provider != "" {
		r.Provider = c.Provider
	}
	return r, nil
}

// writeFault writes the class of an error for people.
func writeFault(e *env, v fault.Verdict) {
	if !v.Failed() {
		e.println(e.green("nothing went wrong"))
		return
	}
	helps := e.red("another try does not help")
	if correction := policy.Correction(); v.Retryable {
		helps = e.green("another try may help")
	} else if correction.Retries(v.Class) {
		helps = e.green("the same request would fail again; telling the model what was wrong may help")
	}
	e.printf("%s (%s plane): %s\n", e.bold(string(v.Class)), v.Plane, helps)
	if v.Asked {
		e.printf("the server asks to wait %s\n", v.RetryAfter)
	}
	names, message := v.Class.Names(), plainLines(indent(fault.UserMessage(v.Class, v.Metadata)))
	e.printf("\n  result envelope  %s\n  agent result     %s\n  agent error      %s\n",
		names.ResultEnvelope, names.AgentResult, names.AgentError)
	e.printf("\ntell the user:\n\n%s\n", message)
}
