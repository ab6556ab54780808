package report

import (
	"cmp"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// kind is the kind of an entry.
type kind string

const (
	started   kind = "start"
	called    kind = "call"
	trying    kind = "try"
	replied   kind = "reply"
	attempted kind = "attempt"
	running   kind = "run"
	ended     kind = "tool"
	waiting   kind = "wait"
	consulted kind = "planner"
	asking    kind = "ask"
	answered  kind = "answer"
	planned   kind = "plan"
	adjusted  kind = "policy"
	said      kind = "said"
	reduced   kind = "event"
	shortened kind = "prompt"
	cancelled kind = "cancelled"
	broken    kind = "broken"
	noted     kind = "note"
	stopped   kind = "outcome"
)

// entry is one thing that happened in a run. Its texts are bounded.
type entry struct {
	Run int `json:"run"`
	// Line is the line of the journal, from 1.
	Line int64 `json:"line"`
	// At is the time since the run began.
	At   time.Duration `json:"at_ns"`
	Kind kind          `json:"kind"`
	// Text is one line and More are further ones, all safe for a terminal.
	Text string   `json:"text"`
	More []string `json:"more,omitempty"`
	// Decision is set for an attempt, without its feedback and its reducer error. Issues say what was wrong.
	Decision *machine.Decision `json:"decision,omitempty"`
	Issues   []issue           `json:"issues,omitempty"`
	Wait     time.Duration     `json:"wait_ns,omitempty"`
	Left     *left             `json:"left,omitempty"`
	Usage    message.Usage     `json:"usage,omitzero"`
	// Cost is what an attempt cost, in the unit of a [policy.Price].
	Cost int64 `json:"cost_micros,omitempty"`

	// children are the ids that the sessions of the calls have, and Nested is what a page shows of them.
	children []string
	// calls are their tools.
	calls  []string
	Nested []*childView `json:"-"`

	// model is the model that was called last, and inside the part of the usage that was consumed in calls.
	model  string
	inside []inner
	// told is set if an earlier entry shows the usage.
	told bool
	// good is set for the outcome of a run that went well and a prompt that became shorter, bad for a reply or
	// tool call that failed.
	good, bad bool
	// marred is set for the outcome of a run with calls that failed or are in doubt.
	marred bool
	// doubt is the key of a call whose effect is unknown, ran is set if it ended by itself. stands is set for
	// a note that a page never folds.
	doubt       string
	ran, stands bool
	// lane says what took the time between from and to; 0 for nothing.
	lane     int
	from, to time.Duration
	// Longest is the longest wait of the run.
	Longest time.Duration `json:"-"`
	// shown is nil if no page is made, and if the page was full.
	shown *details
	// bare is set if the page was full.
	bare bool
}

// maxText is the most characters of each text of an entry.
const maxText = 600

// says sets the texts of an entry, made safe for a terminal.
func (e entry) says(text string, more ...string) entry {
	e.Text = told.Brief(text, maxText)
	for _, m := range more {
		if m = told.Line(m); m != "" {
			e.More = append(e.More, told.Clip(m, maxText))
		}
	}
	return e
}

// issue is what was wrong at a place in a reply, without the value that was received. Its texts are safe for
// a terminal.
type issue struct {
	Pointer  string `json:"pointer"`
	Rule     string `json:"rule"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// issuesOf returns the first issues.
func issuesOf(all []fault.Issue) (issues []issue) {
	safe := func(text string) string { return told.Brief(text, maxText) }
	for _, i := range all[:min(len(all), maxMarks)] {
		issues = append(issues, issue{safe(i.Pointer), safe(i.Rule), safe(i.Expected), safe(string(i.Got))})
	}
	return issues
}

// scrub leaves out of the texts of an entry what a page leaves out. Entries that are not kept need none of
// it.
func (e *entry) scrub(within *Page) {
	e.Text, e.model = within.scrub(e.Text), within.scrub(e.model)
	for n := range e.More {
		e.More[n] = within.scrub(e.More[n])
	}
}

// asks reports whether an entry asks for an attempt.
func (e *entry) asks() bool { return e.Kind == called || e.Kind == trying }

// failed reports whether an entry is a failed attempt.
func (e *entry) failed() bool { return e.Decision != nil && e.Decision.Class != "" }

// repeats reports whether an entry tells the model what it repeats.
func (e *entry) repeats() bool { return e.Decision != nil && e.Decision.Reason == policy.ReasonNudged }

// The colours of a terminal, by their ANSI codes.
const (
	bold, faint                      = "1", "2"
	red, green, yellow, purple, cyan = "31", "32", "33", "35", "36"
)

// tones are the CSS classes of the colours.
var tones = map[string]string{red: "bad", green: "good", yellow: "warn", cyan: "wait"}

// colours are those of kinds of entries.
var colours = map[kind]string{
	started: faint, called: bold, trying: bold, waiting: cyan, consulted: purple, asking: purple,
	answered: purple, planned: purple, adjusted: purple, said: purple, shortened: purple, broken: red,
	noted: faint,
}

// word returns the word in front of an entry, and its colour.
func (e *entry) word() (word, colour string) {
	switch d := e.Decision; {
	case e.Kind == stopped && e.good && e.marred:
		return "done", yellow
	case e.Kind == stopped && e.good:
		return "done", green
	case e.Kind == stopped:
		return "stop", red
	case e.bad:
		return string(e.Kind), red
	case e.Kind == cancelled:
		return "cancel", red
	case d == nil:
		return string(e.Kind), colours[e.Kind]
	case d.Class == "" && d.Reason == policy.ReasonAccepted:
		return "accept", green
	case e.repeats():
		return "nudge", yellow
	case d.Class == "":
		return "close", yellow
	case d.Retry:
		return "retry", yellow
	}
	return "fail", red
}

// Word, Tone, When, Uses and Shown are for the page's template.
func (e *entry) Word() string { w, _ := e.word(); return w }

// Tone returns "bad" for each attempt that failed, whatever followed it.
func (e *entry) Tone() string {
	if e.failed() {
		return "bad"
	}
	if e.doubt != "" {
		return "warn"
	}
	_, colour := e.word()
	return tones[colour]
}

// Says returns the word in front of an entry on a page.
func (e *entry) Says() string {
	if e.failed() && e.Decision.Retry {
		return "✕ again"
	}
	return e.Word()
}

// Delay returns the delay before the next attempt, as text.
func (e *entry) Delay() string {
	if e.Decision == nil || e.Decision.Delay == 0 {
		return ""
	}
	return short(e.Decision.Delay)
}

func (e *entry) When() string { return since(e.At) }

// Uses returns the usage of an entry, unless an earlier entry shows it, and the cost.
func (e *entry) Uses() string {
	return joined(", ", when(!e.told, usageText(e.Usage)), when(e.Cost > 0, "cost "+several.Money(e.Cost)))
}

// Shown is never nil.
func (e *entry) Shown() *details {
	if e == nil {
		return &details{}
	}
	return cmp.Or(e.shown, &details{})
}
