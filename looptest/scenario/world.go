package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// world is what survives a crash: what tools will do.
type world struct {
	outcomes []outcome
	// scripted has the places of the latest outcomes of tools, by their names.
	scripted map[string]string
	// keyed are the tools whose idempotency keys are shown.
	keyed []string
	// hanging is set while a tool gives no answer, crashed if a crash lost its run.
	hanging, crashed bool
}

// outcome is what one run of a tool will do.
type outcome struct {
	tool     string
	emits    []session.Event
	progress []json.RawMessage
	result   json.RawMessage
	err      error
	silent   bool
	// itself is set if the program's own tool runs.
	itself bool
	// place is where it stands; empty for one of a round, whose call may be skipped.
	place string
}

// script reads the next outcomes of a tool, one per line. Its events and progress come before the outcome.
func (sc *story) script(l *line) error {
	o, open := outcome{tool: l.name, place: l.place}, false
	for _, text := range strings.Split(l.body, "\n") {
		ends, err := o.read(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		if open = !ends; ends {
			if err := sc.will(o, l.place); err != nil {
				return err
			}
			o = outcome{tool: l.name, place: l.place}
		}
	}
	if open {
		return errors.New("the last line must say how the run ends")
	}
	return nil
}

// will adds what one run of a tool will do, as the line at a place says.
func (sc *story) will(o outcome, place string) error {
	if own, _ := sc.own.Config.Tools.Get(o.tool); o.itself && own == nil {
		return fmt.Errorf("%q is for the tools of the program, and %s is none: say what it returns",
			itself, o.tool)
	}
	if sc.scripted == nil {
		sc.scripted = map[string]string{}
	}
	sc.scripted[o.tool] = place
	sc.outcomes = append(sc.outcomes, o)
	return nil
}

// read adds one line to an outcome and reports whether it ends the run.
func (o *outcome) read(text string) (ends bool, err error) {
	verb, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "no answer":
		o.silent = true
	case text == "unknown":
		o.err = tool.ErrUnknown
	case text == itself:
		o.itself = true
	case verb == "later:":
		o.err, err = readLater(rest)
	case verb == "result":
		o.result = json.RawMessage(rest)
	case verb == "emit":
		name, payload, _ := strings.Cut(rest, " ")
		o.emits = append(o.emits, session.Event{Name: name, Payload: []byte(payload)})
		return false, nil
	case verb == "progress":
		o.progress = append(o.progress, json.RawMessage(rest))
		return false, nil
	case strings.HasPrefix(text, "ask again:"):
		issues, err := readIssues(strings.TrimPrefix(text, "ask again:"))
		o.err = tool.AskAgain(issues...)
		return true, err
	case verb == "fail:":
		o.err = tool.Fail(rest)
	case verb == "error:":
		o.err = errors.New(rest)
	case verb == "fault:":
		o.err, err = readFault(rest)
	case verb == "class:":
		o.err, err = readClass(rest)
	default:
		return false, fmt.Errorf("%q is no outcome: write result, emit, progress, ask again:, fail:, error:, "+
			"fault:, class:, later:, unknown, no answer or itself", text)
	}
	return true, err
}

// readFault reads "timeout retry-after=2s".
func readFault(text string) (error, error) {
	name, asked, there := strings.Cut(text, " retry-after=")
	class, err := classOf(name)
	e := &fault.ProviderError{Class: class, Provider: "example"}
	if err != nil || !there {
		return e, err
	}
	e.RetryAfter, err = duration("retry-after", asked)
	return e, err
}

// classOf reads a class as a policy does, which knows misspelled ones.
func classOf(name string) (fault.Class, error) {
	class := fault.Class(name)
	err := policy.Layer{RetryableErrors: []fault.Class{class}}.Validate()
	if wrong, found := errors.AsType[*policy.FieldError](err); found {
		err = errors.New(wrong.Problem)
	}
	return class, err
}

// readClass reads "sold_out /city free another city": a class of the user's own, and its issues.
func readClass(text string) (error, error) {
	name, rest, _ := strings.Cut(text, " ")
	class, err := classOf(name)
	if err != nil {
		return nil, err
	}
	issues, err := readIssues(rest)
	return &fault.ClassError{Class: class, Issues: issues}, err
}

// readLater reads "the till is closed after=2s".
func readLater(text string) (error, error) {
	why, after, _ := strings.Cut(text, "after=")
	d, err := duration("after", after)
	return tool.TryLater(errors.New(strings.TrimSpace(why)), d), err
}

// readIssues reads issues, one to a line or between semicolons: "/nights maximum at most 14". "-" is the
// whole document.
func readIssues(text string) ([]fault.Issue, error) {
	var issues []fault.Issue
	for _, one := range split(text, ";\n") {
		parts := strings.SplitN(strings.TrimSpace(one), " ", 3)
		if len(parts) < 2 || (parts[0] != "-" && !strings.HasPrefix(parts[0], "/")) {
			return nil, fmt.Errorf("%q is no issue: write /pointer rule what was expected", one)
		}
		i := fault.Issue{Pointer: strings.TrimPrefix(parts[0], "-"), Rule: parts[1], Source: fault.FromTool}
		if len(parts) == 3 {
			i.Expected = parts[2]
		}
		issues = append(issues, i)
	}
	return issues, nil
}

// itself is the outcome of a run in which the program's own tool runs.
const itself = "itself"

// next takes the next outcome of a tool off the script.
func (w *world) next(name string) outcome {
	at := slices.IndexFunc(w.outcomes, func(o outcome) bool { return o.tool == name })
	if at < 0 {
		return outcome{tool: name, result: json.RawMessage(`{"ok":true}`)}
	}
	o := w.outcomes[at]
	w.outcomes = slices.Delete(w.outcomes, at, at+1)
	return o
}

// unused reports an outcome that no run used, which a misspelt name makes.
func (w *world) unused() error {
	for _, o := range w.outcomes {
		if o.place != "" {
			return fmt.Errorf("%s: an outcome of %s is left over: no run of that tool used it", o.place, o.tool)
		}
	}
	return nil
}

// toolFunc is a tool that does what the story scripted.
func (sc *story) toolFunc(name string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		o := sc.next(name)
		if sc.hanging = o.silent; sc.hanging {
			return json.RawMessage("null"), nil
		}
		for _, p := range o.progress {
			if err := tool.Progress(ctx, p); err != nil {
				return nil, err
			}
		}
		for _, e := range o.emits {
			if err := tool.Emit(ctx, e.Name, json.RawMessage(e.Payload)); err != nil {
				return nil, err
			}
		}
		return o.result, o.err
	}
}

// runTools runs what the run waits for, in call order, until a tool gives no answer.
func (sc *story) runTools() error {
	for sc.runner != nil && !sc.hanging {
		st := sc.runner.State()
		if st.Phase == machine.Stopped && len(sc.around) > 0 {
			sc.ended = sc.runner
			if err := sc.endTool(sc.goOut()); err != nil {
				return err
			}
			continue
		}
		if st.Phase != machine.Running {
			return nil
		}
		at := slices.IndexFunc(sc.pending.Tools, func(r machine.ToolRun) bool {
			return r.Index == st.Batch.Cursor
		})
		if err := sc.runTool(sc.pending.Tools[at]); err != nil {
			return err
		}
	}
	return nil
}

// runTool begins a call. That of an agent ends when its run has ended.
func (sc *story) runTool(run machine.ToolRun) error {
	if _, err := sc.runner.ToolBegins(sc.at, run); err != nil {
		return err
	}
	if tools, ok := sc.agents[run.Tool]; ok {
		return sc.within(tools, run)
	}
	return sc.endTool(run)
}

// endTool calls a tool that has begun, and feeds its outcome.
func (sc *story) endTool(run machine.ToolRun) error {
	name := run.Tool
	if slices.Contains(sc.keyed, name) {
		name += " (key " + run.Key[:8] + ")"
	}
	invoked, err := sc.invoked(run.Tool)
	if err != nil {
		return err
	}
	ctx := tool.WithInvocation(context.Background(), tool.Invocation{
		Key: run.Key, CallID: run.ID, Report: func(p []byte) { sc.say(name + " reports " + string(p)) },
	})
	var out tool.Outcome
	if sc.crashed && !run.Repeatable {
		out.Err = tool.ErrUnknown
	} else {
		out = invoked.Invoke(ctx, run.Arguments)
	}
	sc.crashed = false
	if sc.hanging {
		sc.say(name + " gives no answer")
		return nil
	}
	for _, e := range out.Events {
		sc.say(name + " emits " + e.Name + " " + string(e.Payload))
	}
	sc.say(name + " " + outcomeSentence(out))
	sc.with.Outcome = &out
	return sc.fed(sc.runner.ToolEnded(sc.at, run, out))
}

func outcomeSentence(out tool.Outcome) string {
	switch {
	case out.Unknown():
		return "began, and has no outcome"
	case out.Err != nil:
		return "breaks: " + out.Err.Error()
	case out.Failed != "":
		return "fails: " + out.Failed
	case len(out.Issues) > 0:
		return "asks again: " + issueLine(out.Issues)
	}
	return "returns " + string(out.Result)
}

func issueLine(issues []fault.Issue) string {
	lines := make([]string, len(issues))
	for n, i := range issues {
		lines[n] = i.String()
	}
	return strings.Join(lines, "; ")
}

// clockFace returns a time as scenarios show it: the time since the beginning.
func clockFace(at time.Time) string { return at.Sub(looptest.Epoch).String() }
