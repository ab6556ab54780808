package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// State is what a session is doing.
type State string

// The states of sessions.
const (
	// Asks: it waits for a person.
	Asks State = "asking"
	// Interrupted: it has work under way, and no process has it.
	Interrupted State = "interrupted"
	Running     State = "running"
	Waiting     State = "waiting"
	Failed      State = "failed"
	Done        State = "done"
)

// states are all states, in the order of the filters.
var states = []State{Asks, Interrupted, Failed, Running, Waiting, Done}

// Session is a session as GET /api/sessions and the list tell it.
type Session struct {
	ID string `json:"id"`
	// Store is the name of its store; empty if there is one only.
	Store string `json:"store,omitempty"`
	State State  `json:"state"`
	// Why says in one sentence what goes on, and what will unblock the session. It has no times that pass.
	Why string `json:"why"`
	// Until is when its wait or its question ends; zero if it has none.
	Until time.Time `json:"until,omitzero"`
	// InDoubt is the number of calls of the latest run whose effect is unknown.
	InDoubt int `json:"in_doubt"`
	// Turns are the replies of models, and Tokens what they took, in all runs.
	Turns  int   `json:"turns"`
	Tokens int64 `json:"tokens"`
	// Since is when what goes on began, and Began when the latest run did.
	Since time.Time `json:"since,omitzero"`
	Began time.Time `json:"began,omitzero"`
	// Damaged is the first line of the journal that cannot be read; 0 if there is none.
	Damaged int64 `json:"damaged,omitempty"`
}

// line is what the list reads of a line of a journal.
type line struct {
	Header *struct {
		Session string `json:"session"`
	} `json:"header"`
	Event *struct {
		Kind     machine.EventKind `json:"kind"`
		At       time.Time         `json:"at"`
		Messages []struct {
			Text string `json:"text"`
		} `json:"messages"`
		Reply *struct {
			Message used `json:"message"`
		} `json:"reply"`
		Try     *used `json:"try"`
		Tool    *used `json:"tool"`
		Summary *used `json:"summary"`
	} `json:"event"`
	Decision *struct {
		Effects []effect `json:"effects"`
	} `json:"decision"`
	Note *struct {
		Kind string    `json:"kind"`
		At   time.Time `json:"at"`
		Tool string    `json:"tool"`
		Key  string    `json:"key"`
	} `json:"note"`
	Snapshot *struct {
		State json.RawMessage `json:"state"`
		Asked *effect         `json:"asked"`
	} `json:"snapshot"`
}

// used is something that took tokens.
type used struct {
	Usage message.Usage `json:"usage"`
	Model string        `json:"model"`
}

// effect is what the list reads of an effect.
type effect struct {
	Kind     machine.EffectKind `json:"kind"`
	Decision *struct {
		Class  string        `json:"class"`
		Reason policy.Reason `json:"reason"`
		Cost   int64         `json:"cost_micros"`
		machine.Position
	} `json:"decision"`
	Model *struct {
		At    []machine.Position `json:"at"`
		Model string             `json:"model"`
	} `json:"model"`
	Tools []struct {
		Tool       string `json:"tool"`
		Key        string `json:"key"`
		Repeatable bool   `json:"repeatable"`
	} `json:"tools"`
	Wait *struct {
		Until  time.Time     `json:"until"`
		Reason policy.Reason `json:"reason"`
	} `json:"wait"`
	Asks    json.RawMessage `json:"asks"`
	Outcome json.RawMessage `json:"outcome"`
}

// summary is what the list knows of a session. Its texts are bounded.
type summary struct {
	tail
	session         string
	runs, turns     int
	tokens          int64
	lost, owed      int64
	cost, lostCost  int64
	corrections     int
	began, last     time.Time
	asked           effect
	asks            []personAsk
	outcome         *machine.Outcome
	model, request  string
	attempt, answer string
	// begun are the keys of tool calls of the latest effect that have begun.
	begun []string
}

// options read what models write: journals may hold invalid UTF-8 and duplicate names in texts of others.
var options = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// take adds a line.
func (s *summary) take(raw []byte) error {
	var l line
	if err := jsonv2.Unmarshal(raw, &l, options); err != nil {
		return err
	}
	switch {
	case l.Header != nil:
		s.header(l.Header.Session)
	case l.Event != nil:
		s.event(&l)
	case l.Decision != nil:
		for n := range l.Decision.Effects {
			s.effect(&l.Decision.Effects[n])
		}
	case l.Snapshot != nil && l.Snapshot.Asked != nil:
		s.effect(l.Snapshot.Asked)
	case l.Note != nil:
		if l.Note.At.After(s.last) {
			s.last = l.Note.At
		}
		if l.Note.Kind == "began" {
			s.begun = append(s.begun, l.Note.Key)
		}
	}
	return nil
}

func (s *summary) header(session string) {
	s.session, s.runs = session, s.runs+1
	s.began, s.outcome, s.asked, s.asks, s.begun = time.Time{}, nil, effect{}, nil, nil
	s.attempt, s.answer, s.request, s.corrections = "", "", "", 0
}

func (s *summary) event(l *line) {
	ev := l.Event
	s.last = ev.At
	if s.began.IsZero() {
		s.began = ev.At
	}
	if n := len(ev.Messages); n > 0 && ev.Kind == machine.Started {
		s.request = brief(ev.Messages[n-1].Text)
	}
	for _, u := range []*used{ev.Try, ev.Tool, ev.Summary} {
		if u != nil {
			s.spend(u.Usage)
		}
	}
	if ev.Reply != nil {
		s.turns++
		s.model = brief(ev.Reply.Message.Model)
		s.spend(ev.Reply.Message.Usage)
	}
}

func (s *summary) spend(u message.Usage) {
	s.tokens += u.Total()
	s.owed += u.Total()
}

func (s *summary) effect(e *effect) {
	if d := e.Decision; e.Kind == machine.Decided && d != nil {
		if s.cost += d.Cost; d.Class != "" {
			s.lost, s.lostCost, s.corrections = s.lost+s.owed, s.lostCost+d.Cost, s.corrections+1
		}
		s.owed = 0
		s.attempt = attemptOf(d.Position)
		return
	}
	if e.Kind == settledEffect {
		return
	}
	s.asked, s.asks, s.begun = *e, nil, nil
	switch {
	case e.Model != nil && len(e.Model.At) > 0:
		s.attempt = attemptOf(slices.MaxFunc(e.Model.At, func(a, b machine.Position) int { return a.Attempt - b.Attempt }))
	case e.Kind == askEffect:
		_ = json.Unmarshal(e.Asks, &s.asks)
	case e.Kind == machine.Stop:
		var o machine.Outcome
		if json.Unmarshal(e.Outcome, &o) == nil {
			about := o.About()
			if !o.OK {
				about = strings.Replace(about, string(o.Reason), o.Reason.Phrase(), 1)
			}
			s.outcome, s.answer = &machine.Outcome{OK: o.OK, InDoubt: o.InDoubt, Reason: o.Reason}, brief(about)
		}
	}
	s.asked.Outcome, s.asked.Asks = nil, nil
}

// attemptOf is a position as the list has it: "2 of 4".
func attemptOf(p machine.Position) string {
	if p.MaxAttempts == policy.Unlimited {
		return fmt.Sprint(p.Attempt)
	}
	return fmt.Sprintf("%d of %d", p.Attempt, p.MaxAttempts)
}

// maxBrief is the most characters of a text in a row.
const maxBrief = 200

// brief is the first characters of a text on one line. Characters that cannot be seen become U+FFFD.
func brief(text string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		if r == '\n' || r == '\t' || r == '\r' || r == ' ' {
			space = b.Len() > 0
			continue
		}
		if n++; n > maxBrief {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if !unicode.IsGraphic(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
}

// late is how long a wait may be over before nothing has taken it up.
const late = 5 * time.Second

// told is the session as of a time.
func (s *summary) told(held Held, now time.Time) Session {
	t := Session{
		ID: s.session, Turns: s.turns, Tokens: s.tokens, Since: s.last, Began: s.began, Damaged: s.damaged,
	}
	switch o := s.outcome; {
	case s.damaged > 0:
		t.State, t.Why = Failed, s.damage()
	case o != nil:
		t.State, t.Why, t.InDoubt = s.ended(o)
	case s.asked.Kind == askEffect && len(s.asks) > 0:
		t.State, t.Until = Asks, s.asks[0].Deadline
		t.Why = s.asks[0].sentence()
		if more := len(s.asks) - 1; more > 0 {
			t.Why += fmt.Sprintf(" And %s.", several.Of(more, "more question"))
		}
		for _, a := range s.asks {
			if a.Kind == askDoubt {
				t.InDoubt++
			}
		}
	case s.asked.Kind == machine.WaitUntil && s.asked.Wait != nil:
		t.State, t.Until = Waiting, s.asked.Wait.Until
		t.Why = "waits until " + clock(t.Until) + " to " + s.asked.Wait.Reason.Phrase()
		if now.Sub(t.Until) > late {
			t.Why = "overdue since " + clock(t.Until) + ": no process took it up; resume it"
		}
	case held == HeldByNobody:
		t.State, t.Why, t.InDoubt = Interrupted, "no process since "+clock(s.last)+"; "+s.unblocks(), len(s.doubtful())
	default:
		t.State, t.Why = Running, s.doing()
	}
	return t
}

// ended tells a run that has ended.
func (s *summary) ended(o *machine.Outcome) (State, string, int) {
	names := make([]string, len(o.InDoubt))
	for n, c := range o.InDoubt {
		names[n] = brief(c.Tool)
	}
	doubt := ""
	if len(names) > 0 {
		doubt = several.Of(len(names), "call") + " in doubt: " + strings.Join(names, ", ") + ". "
	}
	switch {
	case !o.OK:
		return Failed, doubt + s.answer, len(names)
	case s.answer == "":
		return Done, doubt + "the answer is empty", len(names)
	case s.corrections > 0 && doubt == "":
		return Done, s.answer + " (after " + several.Of(s.corrections, "correction") + ")", 0
	}
	return Done, doubt + s.answer, len(names)
}

// doing says what a running session does.
func (s *summary) doing() string {
	e := &s.asked
	switch {
	case e.Kind == machine.CallModel:
		text := "calls the model"
		if e.Model != nil && e.Model.Model != "" {
			text = "calls " + brief(e.Model.Model)
		} else if s.model != "" {
			text = "calls " + s.model
		}
		return text + ", attempt " + s.attempt
	case e.Kind == machine.RunTools:
		return "runs " + s.toolNames()
	case e.Kind == machine.TryAction:
		return "tries, attempt " + s.attempt
	case e.Kind == machine.AskPlanner:
		return "asks the planner what to do"
	case e.Kind == "":
		return "begins"
	}
	return strings.ReplaceAll(brief(string(e.Kind)), "_", " ")
}

func (s *summary) toolNames() string {
	var names []string
	for _, t := range s.asked.Tools[:min(len(s.asked.Tools), 4)] {
		names = append(names, brief(t.Tool))
	}
	if more := len(s.asked.Tools) - len(names); more > 0 {
		names = append(names, several.Of(more, "more"))
	}
	return strings.Join(names, " and ")
}

// doubtful are the tools of calls that may have had an effect.
func (s *summary) doubtful() (names []string) {
	for _, t := range s.asked.Tools {
		if !t.Repeatable && slices.Contains(s.begun, t.Key) {
			names = append(names, brief(t.Tool))
		}
	}
	return names
}

// unblocks says what a session needs that no process has.
func (s *summary) unblocks() string {
	if names := s.doubtful(); len(names) > 0 {
		return strings.Join(names, " and ") + " may have run, and is not repeated; resume it"
	}
	if s.asked.Kind == machine.RunTools {
		return s.toolNames() + " was to run, and is repeated; resume it"
	}
	return "resume it: it goes on with what it began"
}

// clock is a time of day, as of UTC.
func clock(at time.Time) string {
	if at.IsZero() {
		return "the beginning"
	}
	return at.UTC().Format("15:04:05")
}
