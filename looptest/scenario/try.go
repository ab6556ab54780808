package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
)

// fault makes the model call or the try of a single action fail.
func (sc *story) fault(l *line) error {
	class, err := classOf(l.name)
	if err != nil {
		return err
	}
	var (
		f      fault.Failure
		limits ratelimit.State
	)
	if class.Plane() == fault.Correction {
		f.Plane, f.Class, f.Tool = fault.Correction, class, l.args["tool"]
		f.Issues, err = readIssues(l.body)
		f.Issues = fault.SortIssues(f.Issues)
	} else {
		f, limits, err = sc.transportFault(class, l)
	}
	if err != nil {
		return err
	}
	if sc.single != nil {
		return sc.step(machine.Event{Kind: machine.Tried, Try: &machine.Try{Failure: f}})
	}
	told := engine.RateLimit(&ratelimit.LimitedError{Err: &fault.ProviderError{Class: class}, State: limits})
	return sc.step(machine.Event{Kind: machine.CallFailed, Failure: &f, RateLimit: told})
}

// transportFault reads a fault of the transport plane. Below it are the headers of the response.
func (sc *story) transportFault(
	class fault.Class, l *line,
) (f fault.Failure, limits ratelimit.State, err error) {
	after, err := l.duration("retry-after")
	if err != nil {
		return f, limits, err
	}
	headers := map[string][]string{}
	for _, text := range split(l.body, "\n") {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return f, limits, fmt.Errorf("%q is no header: write name: value", text)
		}
		headers[name] = append(headers[name], strings.TrimSpace(value))
	}
	asked := ratelimit.Span{Duration: after, Known: l.has("retry-after")}
	limits = ratelimit.Response{Headers: headers, At: sc.at, RetryAfter: asked}.Limits()
	f = fault.Failure{Plane: fault.Transport, Class: class, RetryAfter: limits.RetryAfter.Duration,
		Final: l.has("final")}
	return f, limits, nil
}

var errNotSingle = errors.New("there is no single action: start single=TOOL")

func (sc *story) try(l *line) error {
	if sc.single == nil {
		return errNotSingle
	}
	usage, err := l.usage()
	if err != nil {
		return err
	}
	issues, err := readIssues(l.body)
	if err != nil {
		return err
	}
	if l.has("ok") == (len(issues) > 0) {
		return errors.New("say ok, or what was wrong: issues below it")
	}
	t := &machine.Try{Usage: usage}
	if !l.has("ok") {
		t.Failure = fault.Failure{Plane: fault.Correction, Class: fault.StructuredOutput, Tool: sc.single.Tool,
			Issues: fault.SortIssues(issues)}
		if sc.single.Tool != "" {
			t.Failure.Class = fault.ToolValidation
		}
	} else {
		heard := engine.TryEvents(session.DriverOf(sc.session).Hears, sc.single.Tool, nil)
		t.Reduced = engine.Reduce(sc.session, sc.runner.State().Session, heard) // the step tells of a refusal
	}
	return sc.step(machine.Event{Kind: machine.Tried, Try: t})
}

func (sc *story) abandon(*line) error {
	if sc.single == nil {
		return errNotSingle
	}
	return sc.step(machine.Event{Kind: machine.Tried, Try: &machine.Try{Abandoned: true}})
}
