package random

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
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
	read, err := w.records.journal(text)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps, w.replays = read.steps, true
	return nil
}

// recorded is what a journal says.
type recorded struct {
	steps []step
	// at is the time of the last event, but for an adjustment after a call that has no outcome.
	at time.Time
	// calling reports that a model is called, or an action is tried.
	calling bool
	// replied is the number of replies, failed calls and tries, with those that a cancelled run left. usage
	// is what the replies cost.
	replied int
	usage   message.Usage
	// runs is the number of runs that have begun, events that of all events, and adjusted that of
	// adjustments. The last event may have no step yet.
	runs, events, adjusted int
	// begun counts how often each call of a tool began.
	begun map[run]int
	// open are the calls that were asked for last and have no outcome, by what identifies them, with whether
	// they may be repeated.
	open map[run]machine.ToolRun
}

// inDoubt reports that a call began, has no outcome and may not be repeated.
func (r *recorded) inDoubt() bool {
	for id, call := range r.open {
		if r.begun[id] > 0 && !call.Repeatable {
			return true
		}
	}
	return false
}

// ended removes the calls that end returns true for.
func (r *recorded) ended(end func(id run, call machine.ToolRun) bool) { maps.DeleteFunc(r.open, end) }

// journal reads a journal, which may end after an event.
func (r *records) journal(text []byte) (recorded, error) {
	all := recorded{begun: map[run]int{}, at: looptest.Epoch}
	in := journal.NewReader(bytes.NewReader(text))
	var ev *machine.Event
	var of stepText
	for {
		raw, err := in.Raw()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		rec, err := r.record(string(raw))
		switch {
		case err != nil:
			return all, err
		case rec.Event != nil:
			ev, of.event = rec.Event, string(raw)
			all.count(ev)
		case rec.Decision != nil:
			of.decision = string(raw)
			line, err := r.line(of, ev, rec.Decision)
			if err != nil {
				return all, err
			}
			all.steps = append(all.steps, step{*ev, rec.Decision.Effects, line})
			for _, e := range rec.Decision.Effects {
				all.asked(e.Tools)
				all.calling = e.Kind == machine.CallModel || e.Kind == machine.TryAction
			}
		case rec.Note != nil && rec.Note.Kind == journal.ToolBegan:
			all.begun[run{rec.Note.Key, rec.Note.Transport}]++
		case rec.Note != nil && rec.Note.Kind == journal.ResultLanded:
			landed := run{rec.Note.Key, rec.Note.Transport}
			all.ended(func(id run, _ machine.ToolRun) bool { return id == landed })
		}
	}
}

// before is how many events came before an item of a kind. An adjustment is part of what follows it: a
// message that came before it in the process is said again after a crash behind it.
func (r *recorded) before(k journal.ItemKind) int {
	if k == journal.MessageItem {
		return r.events - r.adjusted
	}
	return r.events
}

// asked takes the calls that an effect asks for.
func (r *recorded) asked(calls []machine.ToolRun) {
	if len(calls) == 0 {
		return
	}
	r.open = map[run]machine.ToolRun{}
	for _, c := range calls {
		r.open[run{c.Key, c.Transport}] = c
	}
}

func (r *recorded) count(ev *machine.Event) {
	r.events++
	if beside := ev.Kind == machine.Adjusted || ev.Said != nil && ev.Said.Late; !beside || !r.calling {
		r.at = ev.At // else the call that is made again takes its time again
	}
	switch ev.Kind {
	case machine.Adjusted:
		r.adjusted++
	case machine.Started:
		r.runs++
	case machine.ToolEnded:
		r.ended(func(_ run, c machine.ToolRun) bool { return c.Index == ev.Tool.Index })
	case machine.Replied:
		r.usage = r.usage.Add(ev.Reply.Message.Usage)
		r.replied++
	case machine.Summarised:
		if ev.Summary != nil {
			r.usage = r.usage.Add(ev.Summary.Usage)
		}
	case machine.CallFailed, machine.Tried:
		r.replied++
	case machine.Cancelled:
		if r.calling {
			r.replied++
		}
	}
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
// undeclared runs twice, each call has one result, and the usage is that of the replies.
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
	laws := []error{lost, w.runsOnce(), w.isPaid(), w.agentsLaws()}
	for _, end := range w.ends {
		if len(w.Case.Follows) > 0 { // the recorded end of an earlier run of a session has none of these
			end.Attempts, end.Warnings = nil, nil
		}
		text, err := resultText(end.Result)
		results, failed = append(results, text), append(failed, errorText(end.err))
		laws = append(laws, err, answered(end.Result))
	}
	t.Result, t.Err = strings.Join(results, "\n"), strings.Join(failed, "\n")
	return t, errors.Join(laws...)
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
	for _, t := range w.Case.Tools {
		if t.Name == p.Action {
			name = p.Action
		}
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
		now := *exhausted
		now.Recorded = time.Time{}
		err = &now
	}
	return fault.Scrub(err.Error())
}

// runsOnce reports a run of an undeclared tool that nothing asked for: the steps ask for each run, and a run
// that began before a crash is not made again.
func (w *World) runsOnce() error {
	if w.redacted || len(w.steps) == 0 {
		return nil // the keys in a redacted journal are others
	}
	asked := map[run]int{}
	for _, s := range w.steps {
		for _, e := range s.effects {
			for _, c := range e.Tools {
				asked[run{c.Key, c.Transport}]++
			}
		}
	}
	for r, n := range w.runs {
		if all := n + w.begun[r]; all > asked[r] {
			return fmt.Errorf("an undeclared tool was run %d times and asked for %d times: call %s, request %d",
				all, asked[r], r.Key, r.Transport)
		}
	}
	return nil
}

// answered reports a native call of the conversation that has no result, or several.
func answered(r loop.Result) error {
	said := r.Transcript
	if len(r.Calls) > 0 && len(said) > 0 { // the last message is the answer
		said = said[:len(said)-1]
	}
	for n, m := range said {
		var want, got []string
		for _, c := range m.Calls {
			want = append(want, c.ID)
		}
		for _, next := range said[n+1:] {
			if next.Role == message.Assistant {
				break
			}
			if next.Role == message.Tool {
				got = append(got, next.CallID)
			}
		}
		if m.Role == message.Assistant && !slices.Equal(want, got) {
			return fmt.Errorf("message %d calls %q, and results came for %q", n+1, want, got)
		}
	}
	return nil
}

// isPaid reports a usage that is not that of the replies.
func (w *World) isPaid() error {
	var paid message.Usage
	for _, end := range w.ends {
		if _, exhausted := errors.AsType[*loop.RetryExhaustedError](end.err); end.err != nil && !exhausted {
			return nil
		}
		if w.Case.Nests() && len(end.InDoubt) > 0 { // it did not wait for an agent, which goes on
			return nil
		}
		paid = paid.Add(end.Usage)
	}
	if w.Case.Action == nil && paid != w.usage {
		return fmt.Errorf("the usage is %+v, and the replies cost %+v", paid, w.usage)
	}
	return nil
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
