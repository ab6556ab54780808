package random

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// Trace is what an engine made of a case, without times: what is the same in every engine. A nil list is not
// compared, for engines that do not have it.
type Trace struct {
	// Decisions has a line for each decision on an attempt, each request, each wait and the end. The names of
	// tools that do not exist are left out.
	Decisions []string
	// Prompts are what the models were asked, as JSON.
	Prompts []string
	// Steps are the events and effects, as [machine.Trace] writes them; nil for a redacted journal, which has
	// others, and for several runs without a journal, which record the whole conversation.
	Steps []string
	// Result is the result of the run as JSON, and Err the text of its error on one line, without keys.
	Result, Err string
}

// step is one step of the core: its event, its effects and both as a line.
type step struct {
	event   machine.Event
	effects []machine.Effect
	line    string
}

// Record records a step of the core, for engines without a journal. It fits engine.RunnerConfig.
func (w *World) Record(ev machine.Event, effects []machine.Effect, st machine.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line, err := machine.Trace(ev, effects, st.TranscriptFrom(w.said))
	if err != nil {
		line = []byte("a step without a canonical form: " + err.Error())
	}
	w.said = st.TranscriptLen()
	w.steps = append(w.steps, step{ev, effects, timeless(line)})
}

// scheduled is when a retry comes, in feedback that a reducer keeps or refuses.
var scheduled = regexp.MustCompile(`,?\\?"retry_scheduled_at\\?":\\?"[^"\\]*\\?"`)

// timeless is the line of a step without the times that stand in its values, too.
func timeless(line []byte) string { return string(scheduled.ReplaceAll(line, nil)) }

// ReadJournal takes the steps from the journal of the session, which must be closed. A replay of the journal
// must make the same decisions.
func (w *World) ReadJournal() error {
	text := w.Store.Text(w.Session.ID)
	if w.redacted || !w.crashed { // after a crash, the steps are those of a journal that replays
		if err := w.records.replays(text, w.Case.Redact.Key); err != nil {
			return err
		}
	}
	if w.redacted {
		if err := w.Leaks(text); err != nil {
			return err
		}
	}
	read, err := w.read(w.Session.ID, text)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps, w.replays = read.steps, true
	return nil
}

// ending is how a run ended.
type ending struct {
	loop.Result
	err error
}

// Ended takes the end of a run of [World.Inputs].
func (w *World) Ended(r loop.Result, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, ending{r, err})
}

// Trace returns the trace of the runs once all have ended. The error says which law they broke: nothing
// undeclared runs twice, each call has one result, the usage is that of the replies, and the journals of
// agents replay.
func (w *World) Trace() (Trace, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := Trace{Prompts: slices.Clone(w.asked)}
	steps, lost := withoutGrants(w.steps)
	for n := range steps {
		for _, e := range steps[n].effects {
			t.Decisions = append(t.Decisions, w.decision(e)...)
		}
		if !w.redacted && (w.replays || len(w.Case.Follows) == 0) {
			t.Steps = append(t.Steps, steps[n].line)
		}
	}
	var results, failed []string
	broken := []error{lost, w.laws()}
	for _, end := range w.ends {
		if len(w.Case.Follows) > 0 { // the recorded end of an earlier run of a session has none of these
			end.Attempts, end.Warnings = nil, nil
		}
		text, err := resultText(end.Result)
		results, failed = append(results, text), append(failed, errorText(end.err))
		broken = append(broken, err)
	}
	t.Result, t.Err = strings.Join(results, "\n"), strings.Join(failed, "\n")
	return t, errors.Join(broken...)
}

// decision describes what was decided, without texts of the user or the model.
func (w *World) decision(e machine.Effect) []string {
	switch {
	case e.Decision != nil:
		d := e.Decision
		return []string{fmt.Sprintf("%s: %s, retry %v, wait %v (%s) %+v",
			w.at(d.Position, string(d.Plane)), d.Class, d.Retry, d.Delay, d.Reason, d.Detail)}
	case e.Model != nil && e.Kind == machine.CallModel:
		m := e.Model
		return []string{fmt.Sprintf("ask model %q for turn %d, request %d", m.Model, m.Turn, m.Transport)}
	case e.Wait != nil:
		return []string{fmt.Sprintf("wait %v (%s, %s)", e.Wait.Delay, e.Wait.Reason, e.Wait.Plane)}
	case e.Outcome != nil:
		o := e.Outcome
		return []string{fmt.Sprintf("end: ok %v, %s, %d turns, waited %v", o.OK, o.Reason, o.Turns, o.Waited)}
	}
	var runs []string
	for _, run := range e.Tools {
		runs = append(runs, fmt.Sprintf("run call %d of %s, request %d", run.Index, run.Tool, run.Transport))
	}
	return runs
}

func (w *World) at(p machine.Position, plane string) string {
	name := "?"
	if w.Case.tool(p.Action) != nil {
		name = p.Action
	}
	if p.Action == machine.AnswerAction || w.Case.Action != nil {
		name = "answer"
	}
	return fmt.Sprintf("%s attempt %d of %d, %s", name, p.Attempt, p.MaxAttempts, plane)
}

// resultText is a result as JSON, without times and without the transcript, which stands in the steps.
func resultText(r loop.Result) (string, error) {
	r.Transcript, r.Attempts, r.Recorded = nil, slices.Clone(r.Attempts), time.Time{}
	for n := range r.Attempts {
		r.Attempts[n].At = time.Time{}
	}
	text, err := canon.Marshal(r)
	return string(text), err
}

// errorText is the text of an error as it is recorded, without the time of an end that was read from the
// record.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	if exhausted, ok := err.(*loop.RetryExhaustedError); ok && !exhausted.Recorded.IsZero() {
		if exhausted.Reason == policy.ReasonBroken { // when it happens, what broke the run is its error
			return errorText(exhausted.Cause)
		}
		now := *exhausted
		now.Recorded = time.Time{}
		err = &now
	}
	return fault.Scrub(err.Error())
}

// Diff says where two traces differ first, in a few lines; empty if they are equal.
func Diff(want, got Trace) string {
	for _, part := range []struct {
		name      string
		want, got []string
	}{
		{"decision", want.Decisions, got.Decisions},
		{"prompt", want.Prompts, got.Prompts},
		{"step", want.Steps, got.Steps},
		{"result", []string{want.Result}, []string{got.Result}},
		{"error", []string{want.Err}, []string{got.Err}},
	} {
		if part.got == nil {
			continue
		}
		if text := differ(part.name, part.want, part.got); text != "" {
			return text
		}
	}
	return ""
}

// around is the number of lines and of bytes that a difference shows before it.
const (
	linesBefore = 3
	bytesBefore = 60
	bytesShown  = 400
)

// differ shows the first line that differs, and some lines before it.
func differ(name string, want, got []string) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	if at == len(want) && at == len(got) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d differs:\n", name, at+1)
	for _, line := range want[max(0, at-linesBefore):at] {
		fmt.Fprintf(&b, "  %s\n", window(line, 0))
	}
	was, is := "", ""
	if at < len(want) {
		was = want[at]
	}
	if at < len(got) {
		is = got[at]
	}
	same := 0
	for same < len(was) && same < len(is) && was[same] == is[same] {
		same++
	}
	fmt.Fprintf(&b, "- %s\n+ %s\n", orNothing(was, same), orNothing(is, same))
	return b.String()
}

func orNothing(line string, same int) string {
	if line == "" {
		return "(nothing)"
	}
	return window(line, same)
}

// window returns the part of a line around a byte.
func window(line string, at int) string {
	from := max(0, min(at, len(line))-bytesBefore)
	to := min(len(line), from+bytesShown)
	text := strings.ToValidUTF8(line[from:to], "")
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}
