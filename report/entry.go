package report

import (
	"cmp"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// kind says what an entry of a timeline tells of.
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
	planned   kind = "plan"
	adjusted  kind = "policy"
	reduced   kind = "event"
	cancelled kind = "cancelled"
	noted     kind = "note"
	stopped   kind = "outcome"
)

// entry is one thing that happened in a run. Its texts are bounded.
type entry struct {
	Run int `json:"run"`
	// Line is that of the journal, from 1.
	Line int64 `json:"line"`
	// At is the time since the run began.
	At   time.Duration `json:"at_ns"`
	Kind kind          `json:"kind"`
	// Text is one line, More are further ones: all fit for a terminal.
	Text string   `json:"text"`
	More []string `json:"more,omitempty"`
	// Decision is without its feedback and its reducer's error.
	Decision *machine.Decision `json:"decision,omitempty"`
	Wait     time.Duration     `json:"wait_ns,omitempty"`
	Left     *left             `json:"left,omitempty"`
	Usage    message.Usage     `json:"usage,omitzero"`

	// told is set where an entry before has told of the usage.
	told bool
	// good is set for the outcome of a run that went well, bad for a reply or tool call that failed.
	good, bad bool
	// lane says what took the time from from to to; 0 for nothing.
	lane     int
	from, to time.Duration
	// shown is what a page shows beyond the lines; nil where no page is made, and where it was left out.
	shown *details
	// bare is set where it was left out, for the page is full.
	bare bool
}

// maxText bounds each text of an entry, in characters.
const maxText = 600

// says makes an entry's texts out of foreign ones.
func (e entry) says(text string, more ...string) entry {
	e.Text = clip(line(text), maxText)
	for _, m := range more {
		if m = line(m); m != "" {
			e.More = append(e.More, clip(m, maxText))
		}
	}
	return e
}

// asks reports whether an entry asks for an attempt.
func (e *entry) asks() bool { return e.Kind == called || e.Kind == trying }

// failed reports whether an entry is the decision on a failed attempt.
func (e *entry) failed() bool { return e.Decision != nil && e.Decision.Class != "" }

// The colours of a terminal, by their ANSI codes.
const (
	bold, faint                      = "1", "2"
	red, green, yellow, purple, cyan = "31", "32", "33", "35", "36"
)

// tones are the colours as the classes of a page.
var tones = map[string]string{red: "bad", green: "good", yellow: "warn", cyan: "wait"}

// words are what stands before an entry, and its colour.
var words = map[kind][2]string{
	started: {"start", faint}, called: {"call", bold}, trying: {"try", bold}, replied: {"reply"},
	running: {"run"}, ended: {"tool"}, waiting: {"wait", cyan}, consulted: {"planner", purple},
	planned: {"plan", purple}, adjusted: {"policy", purple}, reduced: {"event"}, cancelled: {"cancel", red},
	noted: {"note", faint},
}

// word is what stands before an entry, and its colour.
func (e *entry) word() (word, colour string) {
	switch d := e.Decision; {
	case e.Kind == stopped && e.good:
		return "done", green
	case e.Kind == stopped:
		return "stop", red
	case e.bad:
		return words[e.Kind][0], red
	case d == nil:
		return words[e.Kind][0], words[e.Kind][1]
	case d.Class == "" && d.Reason == policy.Accepted:
		return "accept", green
	case d.Class == "":
		return "close", yellow
	case d.Retry:
		return "retry", yellow
	}
	return "fail", red
}

// Word, Tone, When and Uses are what a page shows of an entry.
func (e *entry) Word() string { w, _ := e.word(); return w }

func (e *entry) Tone() string { _, colour := e.word(); return tones[colour] }

func (e *entry) When() string { return since(e.At) }

// Uses is the usage of an entry; empty where it was told before.
func (e *entry) Uses() string {
	if e.told {
		return ""
	}
	return usageText(e.Usage)
}

// Shown is what a page shows beyond the lines.
func (e *entry) Shown() *details { return cmp.Or(e.shown, &details{}) }
