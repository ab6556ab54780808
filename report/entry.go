package report

import (
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
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

// entry is one thing that happened in a run. What it holds is bounded, but for detail.
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
	// good is set for the outcome of a run that went well, bad for a reply or tool that did not come through.
	good, bad bool
	// detail is for pages; nil where none is made, and where it was left out.
	detail *detail
	// bare is set where it was left out of a page that is full.
	bare bool
}

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

// maxText bounds each text of an entry, in characters.
const maxText = 600

// asks reports whether an entry asks for an attempt.
func (e *entry) asks() bool { return e.Kind == called || e.Kind == trying }

// failed reports whether an entry is the decision on a failed attempt.
func (e *entry) failed() bool { return e.Decision != nil && e.Decision.Class != "" }
