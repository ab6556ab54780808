package main

import (
	"bytes"
	"flag"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
)

var classifyCommand = command{
	name:    "classify",
	summary: "what a provider's error is, whether another try may help, and what to tell a person",
	usage:   []string{"classify [-now T] [-json] < ERROR.json"},
	about: `
Reads an error as it arrived: {"provider", "model", "status", "type", "code", "message", "headers", "body"}, all optional.
"body" is raw text or JSON, "status" (three digits, or 0 for none) and "code" a number or a string, a header's value a string or a list of them.

A Retry-After that is a date becomes a wait by the time of the response: that of -now, else that of its own Date header.

JSON: {"code", "plane", "retryable", "names": {"result_envelope", "agent_result", "agent_error"}, "retry_after_ms",
"user_message"}, or null where nothing went wrong. "retry_after_ms" is absent where the server asks for no wait.`,
	task: func() task { return &classify{} },
}

type classify struct {
	now  time.Time
	json bool
}

func (c *classify) declare(fs *flag.FlagSet) {
	declareNow(fs, &c.now)
	fs.BoolVar(&c.json, "json", false, "write JSON")
}

func (c *classify) run(e *env) error {
	if e.typed {
		e.note("reading an error as JSON from the terminal; end it with Ctrl-D")
	}
	text, err := readAll("standard input", e.in)
	if err != nil {
		return err
	}
	r, err := fault.ReadResponse(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	r.Now = responseTime(c.now, r.Headers)
	v := fault.Classify(r)
	if c.json {
		return e.json(v)
	}
	writeVerdict(e, v)
	return nil
}

func writeVerdict(e *env, v fault.Verdict) {
	if !v.Failed() {
		fmt.Fprintln(e.out, e.paint.green("nothing went wrong"))
		return
	}
	helps := e.paint.red("another try does not help")
	if v.Retryable {
		helps = e.paint.green("another try may help")
	}
	fmt.Fprintf(e.out, "%s (%s plane): %s\n", e.paint.bold(string(v.Class)), v.Plane, helps)
	if v.Asked {
		fmt.Fprintf(e.out, "the server asks to wait %s\n", v.RetryAfter)
	}
	names := v.Names()
	fmt.Fprintf(e.out, "\n  result envelope  %s\n  agent result     %s\n  agent error      %s\n\ntell the user:\n\n%s\n",
		names.ResultEnvelope, names.AgentResult, names.AgentError, plainLines(indent(v.UserMessage())))
}
