package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/report/internal/told"
)

// section is one model call or try, and everything up to the next one.
type section struct {
	// Number is that of the call; 0 for what happened before the first one.
	Number    int
	ID, Title string
	// Tools are the tools that the reply called.
	Tools string
	// Call is the call itself; nil for what happened before the first one.
	Call  *entry
	Items []*entry
	// all are the entries with the waits that Items tells with the attempts.
	all []*entry
	// About says which attempts the call is for, and Spent what was lost on them and how long all took.
	About, Spent string
	// Result is the first failure, or else a decision, rather one that is not good.
	Result, Tone string
	// Raw is the address of its lines in the journal, and Line the number of the first; empty for none.
	Raw  string
	Line int64
	// Failed is set if an attempt failed, Doubt if it is not known what a call did, Bare if texts were left
	// out.
	Failed, Doubt, Bare bool

	decided bool
}

// newSection begins a section.
func newSection(id string, e *entry) *section {
	s := &section{ID: id, Title: "Before the first call", Tone: "warn"}
	if e.asks() {
		number, about, _ := strings.Cut(e.Text, ": ")
		s.Number, _ = strconv.Atoi(number)
		s.Call, s.About, s.Result = e, about, noOutcome
	}
	return s
}

// sections divides the entries of a run.
func (r *run) sections(entries []*entry, prefix string) (all []*section) {
	for _, e := range entries {
		if e.Kind == started {
			continue
		}
		if e.asks() || len(all) == 0 {
			all = append(all, newSection(fmt.Sprintf("%sr%d-%d", prefix, r.number, len(all)+1), e))
		}
		s := all[len(all)-1]
		s.Bare = s.Bare || e.bare
		if s.Call == e {
			continue
		}
		e.Longest = r.longest
		if s.Doubt = s.Doubt || e.doubt != ""; s.Doubt && e.failed() {
			e.doubt = s.all[len(s.all)-1].doubt
		}
		if s.all = append(s.all, e); !s.merge(e) {
			s.Items = append(s.Items, e)
			s.judge(e)
		}
	}
	return all
}

// merge shows a wait with the attempt that it follows.
func (s *section) merge(wait *entry) bool {
	if wait.Kind != waiting {
		return false
	}
	for _, e := range slices.Backward(s.Items) {
		if e.failed() && e.Decision.Retry && e.Decision.Delay == wait.Wait {
			e.Wait = wait.Wait
			return true
		}
	}
	return false
}

// doubts reports whether one of the calls in doubt ended in a section.
func (s *section) doubts(calls []machine.CallRef) bool {
	return slices.ContainsFunc(s.all, func(e *entry) bool {
		return e.doubt != "" && slices.ContainsFunc(calls, func(c machine.CallRef) bool { return c.Key == e.doubt })
	})
}

// judge updates the result of a section by one of its entries.
func (s *section) judge(e *entry) {
	word, colour := e.word()
	if e.repeats() {
		word = "repeats"
	}
	if calls := e.Shown().Calls; len(calls) > 0 {
		s.Tools = timesOf(namesIn(calls))
	}
	switch {
	case s.Failed:
	case e.failed():
		s.Failed, s.Result, s.Tone = true, told.Words(string(e.Decision.Class)), "bad"
	case e.Kind == attempted:
		if !s.decided || colour != green {
			s.decided, s.Result, s.Tone = true, word, tones[colour]
		}
	case e.Kind == asking:
		s.Result, s.Tone = "asks a person", "warn"
	case e.Kind == answered:
		s.Result, s.Tone = "answered", ""
	case s.decided:
	case e.Kind == running:
		s.Result, s.Tone = "running "+told.Clip(e.Text, maxNames), ""
	case e.Kind == replied && s.Result == noOutcome:
		s.Result, s.Tone = "replied", ""
	}
}

// Entries counts what a section and the agents in it consist of. If that changes, what was fetched is old.
func (s *section) Entries() (n int) {
	for _, e := range s.all {
		n++
		for _, c := range e.Nested {
			for _, p := range c.Parts() {
				for _, inner := range p.Sections {
					n += inner.Entries()
				}
			}
		}
	}
	return n
}

// namesIn returns the names of the tools that a reply calls.
func namesIn(calls []*callView) (names []string) {
	for _, c := range calls {
		names = append(names, c.Tool)
	}
	return names
}

// noOutcome is the result of a section without a reply.
const noOutcome = "no outcome"
