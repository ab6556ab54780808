package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

func (sc *story) showState(*line) error {
	st := sc.runner.State()
	sc.say(fmt.Sprintf("run %d, turn %d: %s at %s", st.Run, st.Turn, st.Phase, clockFace(st.At)))
	for _, a := range st.Actions {
		p := st.Policy.Policy(policy.Target{Tool: a.Name})
		at := machine.Position{Action: a.Name, Attempt: a.Attempt, MaxAttempts: p.MaxAttempts}
		sc.say("open: " + at.String())
	}
	if st.Failed.Run > 0 {
		line := fmt.Sprintf("failed attempts: %d in the run, %d of unknown tools",
			st.Failed.Run, st.Failed.Unknown)
		for _, t := range st.Failed.Tools {
			line += fmt.Sprintf(", %d of %s", t.Failed, t.Tool)
		}
		sc.say(line)
	}
	if st.Usage != (message.Usage{}) {
		sc.say(fmt.Sprintf("tokens: %d in, %d out", st.Usage.InputTokens, st.Usage.OutputTokens))
	}
	if c := st.Charged; c != (policy.Charge{}) {
		line := fmt.Sprintf("charged: %d in, %d out, cost %d", c.Usage.InputTokens, c.Usage.OutputTokens, c.Cost)
		if c.Estimated > 0 {
			line += ", estimated " + several.Of(int(c.Estimated), "call")
		}
		sc.say(line)
	}
	if st.Waited > 0 {
		sc.say("waited " + st.Waited.String())
	}
	if o := st.Outcome; o != nil {
		for _, w := range o.Warnings {
			sc.say("warning: " + w)
		}
	}
	return nil
}

func (sc *story) showAttempts(*line) error {
	for _, a := range sc.runner.State().Session.Attempts() {
		sc.say(looptest.AttemptText(a))
	}
	return nil
}

func (sc *story) showFeedback(*line) error {
	for _, f := range sc.runner.State().Session.Feedback() {
		sc.say(feedbackLine(f))
		for _, d := range []struct {
			what   string
			issues []fault.Issue
		}{{"fixed", f.Diff.Fixed}, {"new", f.Diff.New}, {"still", f.Diff.Persistent}} {
			if len(d.issues) > 0 {
				sc.say("  " + d.what + ": " + issueLine(d.issues))
			}
		}
	}
	if sc.out == nil {
		sc.say("none")
	}
	return nil
}

func feedbackLine(f feedback.RetryFeedback) string {
	at := machine.Position{Action: f.ToolName, Attempt: f.Attempt, MaxAttempts: f.MaxAttempts}
	line := fmt.Sprintf("%s, %s, %s: %s", f.Source, at, f.ErrorType, f.Message)
	if f.Schedule == nil {
		return line + " [nothing scheduled]"
	}
	return fmt.Sprintf("%s [next at %s, after %s]", line, clockFace(f.Schedule.At), f.Schedule.Delay)
}

func (sc *story) showSlices(*line) error {
	st := sc.runner.State().Session
	for _, info := range st.Slices() {
		held, _ := st.Values(info.Name)
		values := make([]string, len(held))
		for n, v := range held {
			values[n] = string(v)
		}
		sc.say(fmt.Sprintf("%s (%s): %s", info.Name, info.Kind, listed(values)))
	}
	var failed []string
	for _, e := range st.ReducerErrors() {
		how := "refused"
		if e.Panicked {
			how = "panicked on"
		}
		failed = append(failed, fmt.Sprintf("%s %s %s: %s", e.Reducer, how, e.Payload, e.Message))
	}
	sc.say("reducer errors: " + listed(failed))
	return nil
}

func listed(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, ", ")
}

// showPrompt shows the request to the model: the system prompt, and the messages since its last reply.
func (sc *story) showPrompt(l *line) error {
	st := sc.runner.State()
	if sc.pending.Model != nil && sc.pending.Model.System != "" {
		sc.say("system: " + indented(sc.pending.Model.System))
	}
	from := 0
	for n, m := range st.Transcript() {
		if m.Role == message.Assistant && !l.has("all") {
			from = n + 1
		}
	}
	for _, m := range st.TranscriptFrom(from) {
		sc.sayMessage(m)
	}
	if sc.out == nil {
		sc.say("nothing since")
	}
	return nil
}

func (sc *story) sayMessage(m message.Message) {
	who := string(m.Role)
	if m.Role == message.Tool {
		who += " " + m.CallID
	}
	if m.IsError {
		who += " (error)"
	}
	if m.Text != "" || len(m.Calls) == 0 {
		sc.say(who + ": " + indented(m.Text))
	}
	for _, c := range m.Calls {
		sc.say(fmt.Sprintf("%s calls %s %s", who, c.Name, c.Arguments))
	}
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// showSession writes the session to a snapshot, restores it, and compares.
func (sc *story) showSession(*line) error {
	st := sc.runner.State().Session
	data, err := st.Snapshot()
	if err != nil {
		return err
	}
	s, err := session.Restore(sc.sessionConfig(""), data)
	if err != nil {
		return err
	}
	again, err := s.Snapshot()
	if err != nil {
		return err
	}
	if !bytes.Equal(data, again) {
		return errors.New("the restored session is another")
	}
	sc.say(fmt.Sprintf("restored %s: %d attempts, %d feedback, %d reducer errors", s.ID(),
		st.AttemptCount(), len(st.Feedback()), len(st.ReducerErrors())))
	return nil
}

// showEnvelope shows the result of the run in a wire form.
func (sc *story) showEnvelope(l *line) error {
	doc, err := result.Encode(result.Form(l.name), agent.Envelope(loop.ResultOf(sc.runner.End(), nil)))
	if err != nil {
		return err
	}
	sc.say(string(doc))
	return nil
}
