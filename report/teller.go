package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// teller makes the sections of one run out of its entries, in order.
type teller struct {
	run *runView
	set machine.Config
	// system is the system prompt of the call before, links are the latest messages so far.
	system  string
	links   []messageLink
	section *sectionView
	// calls are those of the reply in this section; proposed are all texts of each action's attempt before
	// and of this one.
	calls    []*callView
	reply    *itemView
	was, is  map[string][]string
	sections int
	longest  time.Duration
	policies map[string]string
}

// sectionWords are what a section's title begins with.
var sectionWords = map[kind]string{called: "Call", trying: "Try"}

// begin begins a section.
func (t *teller) begin(e *entry) {
	t.sections++
	t.section = &sectionView{
		ID: fmt.Sprintf("r%d-%d", e.Run, t.sections), Word: cmp.Or(sectionWords[e.Kind], "Call"),
		Title: e.Text, At: since(e.At), Line: e.Line, Result: noOutcome, Tone: "warn", Bare: e.bare,
	}
	t.run.Sections = append(t.run.Sections, t.section)
	t.calls, t.reply, t.is = nil, nil, map[string][]string{}
	if d := e.detail; d != nil {
		t.prompt(d)
	}
}

// prompt shows what a call was asked with.
func (t *teller) prompt(d *detail) {
	s := t.section
	if m := d.effect.Model; m != nil && m.System != "" {
		if s.SameSystem = m.System == t.system; !s.SameSystem {
			s.System = viewOf("system", m.System, nil)
		}
		t.system = m.System
	}
	s.Earlier = t.links[max(0, len(t.links)-maxEarlier):]
	s.Before = max(0, d.first-1-len(s.Earlier))
	t.say(d)
}

// say shows the messages that were added.
func (t *teller) say(d *detail) {
	s, before := t.section, ""
	if len(t.run.Sections) > 1 {
		before = t.run.Sections[len(t.run.Sections)-2].ID
	}
	for n, m := range d.said {
		v := &messageView{
			ID:   fmt.Sprintf("m%d-%d", t.run.Number, d.first+n),
			Role: string(m.Role), IsError: m.IsError, About: aboutMessage(&m),
		}
		if m.Role == message.Assistant && before != "" {
			v.Echo = before
		} else {
			v.Text = viewOf("", m.Text, nil)
		}
		s.Messages = append(s.Messages, v)
		t.links = append(t.links, messageLink{v.ID, v.Role, clip(line(m.Text), 100)})
		if len(t.links) > 4*maxEarlier {
			t.links = append(t.links[:0], t.links[len(t.links)-maxEarlier:]...)
		}
	}
}

// aboutMessage says which call a message answers, or how many it makes.
func aboutMessage(m *message.Message) string {
	switch {
	case m.Role == message.Tool:
		return visible(strings.TrimSpace("answers " + m.Name + " " + m.CallID))
	case len(m.Calls) > 0:
		return many(len(m.Calls), "call")
	}
	return ""
}

// item adds what happened to the section.
func (t *teller) item(e *entry) *itemView {
	w := wordOf(e)
	v := &itemView{Word: w[0], Tone: toneOf(e), At: since(e.At), Line: e.Line, Title: e.Text, More: e.More}
	if t.section == nil {
		t.begin(&entry{
			Run: e.Run, At: e.At, Line: e.Line, Kind: called,
			Text: "before the first call", detail: &detail{first: 1},
		})
	}
	t.section.Items = append(t.section.Items, v)
	return v
}

// toneOf is the colour of an entry on a page.
func toneOf(e *entry) string {
	if e.bad {
		return "bad"
	}
	switch wordOf(e)[0] {
	case "accept", "done":
		return "good"
	case "fail", "stop", "cancel":
		return "bad"
	case "retry", "close":
		return "warn"
	case "wait":
		return "wait"
	}
	return ""
}
