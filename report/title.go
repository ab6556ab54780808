package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// The bounds of titles, in characters and in parts.
const (
	maxTitle       = 160
	maxTitleValue  = 24
	maxTitleValues = 3
	// maxValues is how much of arguments is looked through for their first values.
	maxValues      = 4 << 10
	maxTitleIssues = 2
)

// name sets the title of a section by its content: what was asked for, what was wrong with it, and what
// followed.
func (s *section) name() {
	if s.Call == nil {
		return
	}
	if s.Doubt {
		s.Result, s.Tone = "in doubt", "warn"
	}
	wrong := joined(", ", s.wrong()...)
	s.Title = told.Brief(joined("; ", joined(": ", s.asked(), wrong), s.next()), maxTitle)
}

// asked names what the reply asked for: a call with its values, the tools, or the answer.
func (s *section) asked() string {
	var names []string
	for _, e := range s.Items {
		switch calls := e.Shown().Calls; {
		case e.Kind == attempted && s.Tools == "" && e.Decision.Action != machine.AnswerAction &&
			e.Decision.Plane != fault.Transport:
			names = append(names, e.Decision.Action)
		case e.Kind != replied:
		case len(calls) == 1:
			return joined(" ", calls[0].Tool, calls[0].Values)
		case len(calls) > 1:
			return s.Tools
		case !e.bad:
			return "answer"
		}
	}
	if len(names) > 0 {
		return timesOf(names)
	}
	return "model call"
}

// timesOf names things in order of appearance, each once: "search ×3, pay".
func timesOf(names []string) string {
	var order []string
	times := map[string]int{}
	for _, name := range names {
		if times[name]++; times[name] == 1 {
			order = append(order, name)
		}
	}
	return listed(order, func(name string) string {
		if times[name] > 1 {
			return fmt.Sprintf("%s ×%d", name, times[name])
		}
		return name
	})
}

// wrong names what was wrong in a section, the shortest texts first.
func (s *section) wrong() (parts []string) {
	var all []issueView
	for _, e := range s.Items {
		d := e.Shown()
		for _, c := range d.Calls {
			all = append(all, c.Issues...)
		}
		all = append(all, d.Issues...)
		switch {
		case e.repeats() && e.Decision.Cycle != nil:
			parts = append(parts, "the same "+several.Of(e.Decision.Cycle.Rounds, "time"))
		case e.doubt != "" && e.ran:
			parts = append(parts, partlyDone)
		case e.doubt != "" && e.Kind == ended:
			parts = append(parts, "it may have run")
		case e.bad && e.Kind == ended:
			parts = append(parts, e.Text)
		case e.failed() && e.Decision.Plane == fault.Transport && e.Decision.Action == "":
			parts = append(parts, told.Words(string(e.Decision.Class)))
		}
	}
	slices.SortStableFunc(all, func(a, b issueView) int { return len(a.Brief) - len(b.Brief) })
	for _, i := range all {
		parts = append(parts, i.Brief)
	}
	if len(parts) == 0 && s.Failed {
		parts = append(parts, s.Result)
	}
	if more := len(parts) - maxTitleIssues; more > 0 {
		parts = append(parts[:maxTitleIssues], fmt.Sprintf("%d more", more))
	}
	return parts
}

// next says what followed the failures of a section, and how much shorter the next prompt was made; empty if
// nothing did.
func (s *section) next() (text string) {
	for _, e := range s.Items {
		switch {
		case e.Kind == shortened && e.good:
			text = joined("; ", text, "prompt "+e.Text)
		case e.failed() && e.Decision.Retry:
			text = verdictText(e.Decision)
		case e.failed():
			text = "no more"
		}
	}
	return text
}

// field is a value of a JSON object: its path, "guests/0/name", and its text as it was written.
type field struct{ path, text string }

const (
	maxFields     = 40
	maxFieldDepth = 3
)

// fieldsOf lists the values of a JSON object in the order of the text. Objects and lists below maxFieldDepth
// are values, and one that breaks off has those before. It returns false for anything else, and if there are
// more than maxFields.
func fieldsOf(text string) (all []field, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, false
	}
	all = fieldsIn(text, span{next(text, 0, 0), len(text)}, "", maxFieldDepth, nil)
	return all, len(all) <= maxFields
}

// fieldsIn adds the values in a part of a text, up to one more than maxFields.
func fieldsIn(text string, at span, path string, depth int, all []field) []field {
	within := members(text[:at.end], at.begin)
	switch raw := text[at.begin:at.end]; {
	case depth == 0 || !isBracket(raw[0]):
		return append(all, field{path, raw})
	case len(within) == 0 && path != "":
		return append(all, field{path, raw[:1] + raw[len(raw)-1:]})
	}
	for _, m := range within {
		if len(all) <= maxFields {
			all = fieldsIn(text, m.value, joined("/", path, canon.Pointer(m.name)[1:]), depth-1, all)
		}
	}
	return all
}

// valuesText returns the first values of arguments: "ACME, 500, EUR". It is empty for what is no JSON object.
func valuesText(arguments string) string {
	all, ok := fieldsOf(arguments)
	if !ok || told.IsRedacted(arguments) {
		return ""
	}
	var parts []string
	for _, f := range all[:min(len(all), maxTitleValues)] {
		text := f.text
		if in := jsontext.Value(text); in.Kind() == '"' {
			if plain, err := jsontext.AppendUnquote(nil, in); err == nil {
				text = string(plain)
			}
		}
		parts = append(parts, told.Clip(visible(told.Line(text)), maxTitleValue))
	}
	if len(all) > maxTitleValues {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// Marks returns the marks of the attempts of a section, in order.
func (s *section) Marks() string {
	marks := ""
	for _, e := range s.Items {
		switch {
		case e == s.Items[len(s.Items)-1] && e.Kind == asking:
			marks += "◆"
		case e.Kind != attempted:
		case e.repeats():
			marks += "!"
		case e.doubt != "":
			marks += "?"
		case e.failed():
			marks += "✕"
		case e.Decision.Reason == policy.ReasonAccepted:
			marks += "✓"
		}
	}
	return told.Clip(marks, 8)
}

// maxCalmWait is the longest wait of a section that can be one of several in a row.
const maxCalmWait = time.Second

// calm reports whether nothing in a section needs a look: each attempt passed at once.
func (s *section) calm() bool {
	passed := false
	for _, e := range s.all {
		switch e.Kind {
		case attempted:
			if e.failed() || e.Decision.Reason != policy.ReasonAccepted || e.Decision.Attempt > 1 {
				return false
			}
			passed = true
		case replied, ended:
			if e.bad || e.doubt != "" {
				return false
			}
		case running:
			if len(e.Nested) > 0 {
				return false
			}
		case reduced:
		case noted:
			if e.stands {
				return false
			}
		case waiting:
			if e.Wait > maxCalmWait {
				return false
			}
		default:
			return false
		}
	}
	return passed && s.Call != nil && !s.Bare
}

// part is what a page shows as one line at first: a section, or several equal ones in a row.
type part struct {
	// Number is that of the call of a single section; 0 for a group.
	Number           int
	ID, Title, Marks string
	// Price is what its attempts cost, and Later the address that has its texts; empty if the page has them.
	Price, Later string
	Sections     []*section
}

// Agents returns the sessions of agents that a turn called, for the list of turns.
func (p *part) Agents() (all []*childView) {
	for _, s := range p.Sections {
		for _, e := range s.Items {
			all = append(all, e.Nested...)
		}
	}
	return all
}

// leastGroup is the fewest sections that become a group.
const leastGroup = 3

// partsOf groups neighbours that used the same tools and passed at once.
func partsOf(sections []*section) (parts []*part) {
	for at := 0; at < len(sections); {
		end := at + 1
		for sections[at].calm() && end < len(sections) && sections[end].calm() &&
			sections[end].Tools == sections[at].Tools {
			end++
		}
		if end-at < leastGroup {
			end = at + 1
		}
		first, last := sections[at], sections[end-1]
		p := &part{Number: first.Number, ID: first.ID, Title: first.Title, Marks: first.Marks(),
			Sections: sections[at:end]}
		if len(p.Sections) > 1 {
			p.Number, p.ID, p.Marks = 0, first.ID+"-g", "✓"
			p.Title = fmt.Sprintf("%d to %d: %s, %s", first.Number, last.Number, first.Tools,
				several.Of(len(p.Sections), "turn"))
		}
		parts, at = append(parts, p), end
	}
	return parts
}
