package tool

import (
	"bytes"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
)

// Calls is the calls of one reply, in its order; none where it makes no call.
type Calls struct {
	Calls []Call
	// Over is the number of calls if there are more than [Settings].MaxCalls; Calls is empty then. Otherwise
	// 0.
	Over int
}

// Call is one call and what is wrong with it.
type Call struct {
	// ID names the call within the reply: the provider's own, else "call-1", "call-2", … by its place.
	ID string
	// Tool is the registered name; empty for an unknown tool.
	Tool string
	// Name is the name as written.
	Name string
	// Arguments is canonical JSON; nil where the arguments are no strict JSON.
	Arguments []byte
	// Raw is the text the call was read from: native arguments as they came, or the call's own part of a
	// text.
	Raw string
	// Class is [fault.ToolValidation] or [fault.UnknownTool] where something is wrong, else empty.
	Class fault.Class
	// Issues is everything that is wrong, in canonical order.
	Issues []fault.Issue
	// Repairs is what it took to read the call, under [policy.RepairsNote].
	Repairs []extract.Repair
	// Checked is what the check made of the arguments of a good call; nil where it made nothing.
	Checked *Checked
}

// Good reports whether the call can be run.
func (c Call) Good() bool { return c.Class == "" }

// Read finds the calls of a reply and checks each: the native calls if there are any, else those in its text.
// The caller must look at the finish reason first: Read reads a reply that was cut off like any other, and
// nothing of it may be run.
func (s *Set) Read(r message.Reply, set Settings) Calls {
	return (&reader{s, set, set.budget()}).read(&r)
}

// reader reads one reply.
type reader struct {
	set      *Set
	settings Settings
	// work is the budget for the checks of all its calls.
	work *schema.Budget
}

func (in *reader) read(r *message.Reply) Calls {
	var calls []Call
	if len(r.Calls) > in.settings.mostCalls() {
		return Calls{Over: len(r.Calls)}
	}
	if len(r.Calls) > 0 {
		named := talk.Named(r.Calls)
		calls = make([]Call, len(named))
		for n := range calls {
			in.native(&calls[n], &named[n])
		}
	} else if s := in.set; s != nil && len(s.tools) > 0 {
		in.work.Read(len(r.Text))
		found, over := extract.Calls(r.Text, s.names, in.settings.options())
		if len(found) == 0 {
			return Calls{Over: over}
		}
		calls = make([]Call, len(found))
		for n := range calls {
			in.found(&calls[n], r.Text, &found[n])
			calls[n].ID = talk.CallID(n)
		}
	}
	return Calls{Calls: calls}
}

// native checks a call that the provider reported. Empty arguments count as {}: providers write a call
// without arguments in this way.
func (in *reader) native(checked *Call, c *message.Call) {
	*checked = Call{ID: c.ID, Name: c.Name, Raw: c.Arguments}
	t, respelled := in.named(c.Name)
	if t == nil {
		checked.unknown(in.set, c.Name)
		checked.Arguments, _ = canon.JSON([]byte(c.Arguments))
		return
	}
	checked.Tool = t.name
	text := strings.TrimSpace(c.Arguments)
	if text == "" {
		text = "{}"
	}
	native := in.settings.of(t.name).Native
	checked.Repairs = kept(native, respelled)
	in.check(checked, t, text)
	if checked.Arguments == nil && allowed(native) {
		in.work.Read(len(text))
		value, repairs, _ := extract.Value(text, in.settings.options())
		if value != nil && in.isAlone(value, text, repairs) {
			checked.Repairs = kept(native, append(respelled, repairs...))
			in.check(checked, t, string(value))
		}
	}
	in.unquote(checked, t, native, 0)
}

// named returns the tool of a native call, or nil, and how its name was repaired.
func (in *reader) named(written string) (*Tool, []extract.Repair) {
	if in.settings.Exact {
		t, _ := in.set.Get(written)
		return t, nil
	}
	if t := in.set.resolve(written); t != nil {
		return t, nil
	}
	if name, by, ok := in.settings.options().WithoutNamespace(written); ok {
		return in.set.resolve(name), []extract.Repair{by}
	}
	return nil, nil
}

// isAlone reports whether no other object follows the arguments that were read from a text. A provider that
// merges several calls gives their arguments one after the other.
func (in *reader) isAlone(value []byte, text string, repairs []extract.Repair) bool {
	if len(repairs) == 0 || repairs[len(repairs)-1].Kind != extract.Prose {
		return true
	}
	rest := text[repairs[len(repairs)-1].Offset:]
	if len(rest) == len(text) {
		return true
	}
	in.work.Read(len(rest))
	other, _, broken := extract.Value(rest, in.settings.options())
	if broken != nil || other == nil || other[0] != '{' {
		return broken == nil
	}
	one, _ := canon.JSON(value)
	two, _ := canon.JSON(other)
	return bytes.Equal(one, two)
}

func (in *reader) found(checked *Call, text string, c *extract.Call) {
	lenient := in.settings.of(c.Name).Text
	raw := text[c.Offset:c.End]
	*checked = Call{Name: c.Name, Raw: raw, Repairs: kept(lenient, c.Repairs)}
	t, ok := in.set.Get(c.Name)
	switch {
	case !ok && c.Name != "":
		checked.unknown(in.set, c.Name)
		checked.Arguments, _ = canon.JSON(c.Arguments)
		return
	case !ok:
		checked.Class = fault.UnknownTool
		checked.Issues = brokenIssues(text, c.Broken, "a tool's name and its arguments")
		return
	}
	checked.Tool = t.name
	if c.Broken != nil {
		checked.Class = fault.ToolValidation
		checked.Issues = brokenIssues(text, c.Broken, "the arguments as one JSON object")
		return
	}
	args, repairs := in.typed(t, c)
	checked.Repairs = kept(lenient, repairs)
	in.check(checked, t, string(args))
	if !checked.Good() {
		in.unwrap(checked, t, c)
	}
	in.unquote(checked, t, lenient, c.Offset)
	if !allowed(lenient) {
		checked.refuse(repairs)
	}
}

// check checks arguments as they were written.
func (in *reader) check(c *Call, t *Tool, args string) {
	in.work.Read(len(args))
	c.judge(t, t.schema.Read(in.work, args))
}

// judge takes over what the check of arguments made of them.
func (c *Call) judge(t *Tool, read schema.Reading) {
	c.Class, c.Arguments, c.Issues, c.Checked = "", read.JSON, read.Issues, nil
	switch {
	case len(read.Issues) > 0:
		c.Class = fault.ToolValidation
	case read.Value != nil:
		c.Checked = &Checked{tool: t, arguments: read.JSON, value: read.Value}
	}
}

// unquote takes quoted objects and arrays out of arguments.
func (in *reader) unquote(c *Call, t *Tool, mode policy.Repairs, offset int) {
	if c.Good() || c.Arguments == nil || !in.settings.unquotes(mode) {
		return
	}
	check := func(args []byte) schema.Reading { return t.schema.Read(in.work, string(args)) }
	if read, ok := unquote(c.Arguments, c.Issues, check); ok {
		own := extract.Repair{Kind: extract.QuotedObject, Offset: offset}
		c.Repairs = kept(mode, insert(c.Repairs, own))
		c.judge(t, read)
	}
}

func (c *Call) unknown(s *Set, name string) {
	c.Class = fault.UnknownTool
	c.Issues = []fault.Issue{{Rule: fault.RuleUnknownTool, Expected: s.offer(name), Source: fault.FromReply}}
}

func (c *Call) refuse(repairs []extract.Repair) {
	if refused := repairedIssues(repairs); len(refused) > 0 {
		c.Class, c.Checked = fault.ToolValidation, nil
		c.Issues = fault.SortIssues(append(c.Issues, refused...))
	}
}
