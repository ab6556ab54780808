package tool

import (
	"strconv"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
)

// Reading is the calls of one reply, in its order; none where it makes no call.
type Reading struct {
	Calls []Checked
}

// Native is the form of a call that the provider reported as one, and that was not found in text.
const Native extract.Form = "native"

// Checked is one call and what is wrong with it.
type Checked struct {
	// ID names the call within the reply: the provider's own, else "call-1", "call-2", … by its place.
	ID string
	// Tool is the registered name; empty for an unknown tool.
	Tool string
	// Name is the name as written.
	Name string
	// Arguments is canonical JSON; nil where the arguments are no strict JSON.
	Arguments []byte
	// Raw is the text the call was read from: native arguments as they came, or the call's own part of a text.
	Raw string
	// Class is [fault.ToolValidation] or [fault.UnknownTool] where something is wrong, else empty.
	Class fault.Class
	// Issues is everything that is wrong, in canonical order.
	Issues []fault.Issue
	// Repairs is what it took to read the call, under [policy.Note].
	Repairs []extract.Repair
	// Form is what the call was read by.
	Form extract.Form
}

// Good reports whether the call can be run.
func (c Checked) Good() bool { return c.Class == "" }

// Read finds the calls of a reply and checks each: the native ones where there are any, else those in its text. It
// reads a reply that was cut off like any other: whoever asks must look at its finish reason first, for nothing cut off
// may be run.
func (s *Set) Read(r message.Reply, set Settings) Reading {
	var calls []Checked
	if len(r.Calls) > 0 {
		calls = make([]Checked, 0, len(r.Calls))
		for _, c := range r.Calls {
			calls = append(calls, s.native(c, set))
		}
	} else if s != nil && len(s.tools) > 0 {
		for _, c := range extract.Calls(r.Text, s.names, set.options()) {
			calls = append(calls, s.found(r.Text, c, set))
		}
	}
	nameCalls(calls)
	return Reading{Calls: calls}
}

// nameCalls gives an id to calls that have none or share one.
func nameCalls(calls []Checked) {
	if len(calls) == 1 && calls[0].ID != "" {
		return
	}
	given := map[string]int{}
	for _, c := range calls {
		given[c.ID]++
	}
	used := map[string]bool{}
	for n := range calls {
		id := calls[n].ID
		for place := n + 1; id == "" || used[id]; place += len(calls) {
			if id = "call-" + strconv.Itoa(place); given[id] > 0 {
				id = ""
			}
		}
		calls[n].ID = id
		used[id] = true
	}
}

// native checks a call the provider reported. Arguments that are left empty are none: so providers write a call without any.
func (s *Set) native(c message.Call, set Settings) Checked {
	checked := Checked{ID: c.ID, Name: c.Name, Raw: c.Arguments, Form: Native}
	t, ok := s.resolve(c.Name)
	if !ok {
		checked.unknown(s, c.Name)
		checked.Arguments, _ = canon.JSON([]byte(c.Arguments))
		return checked
	}
	checked.Tool = t.name
	text := strings.TrimSpace(c.Arguments)
	if text == "" {
		text = "{}"
	}
	raw := []byte(text)
	args, err := canon.JSON(raw)
	if native := set.of(t.name).Native; err != nil && allowed(native) {
		if value, repairs, _ := extract.Value(text, set.options()); value != nil {
			raw, checked.Repairs = value, kept(native, repairs)
			args, _ = canon.JSON(raw)
		}
	}
	checked.check(t, raw, args)
	return checked
}

// found checks a call that was found in a text.
func (s *Set) found(text string, c extract.Call, set Settings) Checked {
	lenient := set.of(c.Name).Text
	checked := Checked{Name: c.Name, Raw: text[c.Offset:c.End], Repairs: kept(lenient, c.Repairs), Form: c.Form}
	t, ok := s.Get(c.Name)
	switch {
	case !ok && c.Name != "":
		checked.unknown(s, c.Name)
		checked.Arguments, _ = canon.JSON(c.Arguments)
		return checked
	case !ok:
		checked.Class = fault.UnknownTool
		checked.Issues = brokenIssues(text, c.Broken, "a tool's name and its arguments")
		return checked
	}
	checked.Tool = t.name
	if c.Broken != nil {
		checked.Class = fault.ToolValidation
		checked.Issues = brokenIssues(text, c.Broken, "the arguments as one JSON object")
		return checked
	}
	args, _ := canon.JSON(c.Arguments)
	checked.check(t, c.Arguments, args)
	if !checked.Good() {
		checked.unwrap(t, c, set)
	}
	if !allowed(lenient) {
		checked.refuse(c.Repairs)
	}
	return checked
}

func (c *Checked) check(t *Tool, text, args []byte) {
	c.Arguments = args
	if c.Issues = t.Check(text); len(c.Issues) > 0 {
		c.Class = fault.ToolValidation
	}
}

func (c *Checked) unknown(s *Set, name string) {
	c.Class = fault.UnknownTool
	c.Issues = []fault.Issue{{Rule: fault.RuleUnknownTool, Expected: s.offer(name), Source: fault.FromReply}}
}

func (c *Checked) refuse(repairs []extract.Repair) {
	if refused := repairedIssues(repairs); len(refused) > 0 {
		c.Class = fault.ToolValidation
		c.Issues = fault.SortIssues(append(c.Issues, refused...))
	}
}
