package report

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/report/internal/told"
)

// Child is the session of an agent that is a tool, as a report shows it with the call.
type Child struct {
	// Link is the address of its page, State how it is, in a word, and Says what goes on in it, in one
	// sentence: for a page in a server. Part is the address at which parts of its page are shown alone, as
	// [Page.Part] is.
	Link, State, Says, Part string
	// Open opens its journal, to show what it did, and says what is left out of it, as [Page.Secrets] does;
	// nil for none.
	Open func() (in io.ReadCloser, secrets map[string][]string, err error)
}

// Children finds the session of a call by its id (see [machine.ChildID]); false if the call has none. A Link
// says that the session was made in the call. Without one its journal must say so, as [machine.Outer] reads
// it, or it is not shown.
type Children func(session string) (Child, bool)

// find finds the session of a call.
func (of Children) find(session string) (c Child, ok bool) {
	if of == nil {
		return c, false
	}
	if c, ok = of(session); !ok || c.Link != "" || c.Open == nil {
		return c, ok
	}
	in, _, err := c.Open()
	if err != nil {
		return c, false
	}
	defer in.Close()
	rec, err := journal.NewReader(in).Next()
	if err != nil || rec.Header == nil {
		return c, true // what is wrong with it is shown
	}
	_, made := machine.Outer(rec.Header.Session, rec.Header.Config.Seed)
	return c, made
}

// maxNesting is how deep agents are shown in one another.
const maxNesting = 8

// childrenOf returns the ids that sessions of calls have.
func (r *run) childrenOf(calls []machine.ToolRun) (ids []string) {
	if r.nests {
		for n := range calls {
			ids = append(ids, machine.ChildID(r.header.Session, r.inSession, r.turn, calls[n].Index))
		}
	}
	return ids
}

// nested writes the timelines of the agents that an entry began, each line moved to the right.
func (t *terminal) nested(e *entry) {
	if t.depth >= maxNesting {
		return
	}
	for _, id := range e.children {
		if c, ok := t.children.find(id); ok && c.Open != nil {
			if in, _, err := c.Open(); err != nil {
				t.more(red, told.Line(id+": "+err.Error()))
			} else {
				t.child(id, in)
			}
		}
	}
}

func (t *terminal) child(id string, in io.ReadCloser) {
	defer in.Close()
	var timeline bytes.Buffer
	inner := newTerminal(&timeline, Style{Color: t.color, Width: t.width - len(indent), Children: t.children})
	inner.depth = t.depth + 1
	err := inner.all(in)
	for text := range bytes.Lines(timeline.Bytes()) {
		if len(text) > 1 {
			_, _ = t.out.WriteString(indent) // it keeps its error
		}
		_, _ = t.out.Write(text)
	}
	if err != nil {
		t.more(red, told.Line(id+": "+err.Error()))
	}
}

const indent = "    "

// childView is a child on a page.
type childView struct {
	Child
	ID string
	// Name is the tool that the agent is.
	Name string
	// Page is what its journal says; nil if that is not shown here.
	Page *pageView
}

// Came returns its state, and what it cost if that is known.
func (c childView) Came() string {
	if c.Page == nil || len(c.Page.Runs) == 0 {
		return c.State
	}
	last := c.Page.Runs[len(c.Page.Runs)-1]
	return joined(", ", cmp.Or(c.State, last.Result), last.Price)
}

// Status returns its state, and what goes on in it.
func (c childView) Status() string { return joined(". ", c.State, c.Says) }

// Parts returns its turns.
func (c childView) Parts() (all []*part) {
	if c.Page != nil {
		for _, r := range c.Page.Runs {
			all = append(all, r.Parts...)
		}
	}
	return all
}

// children finds the agents that an entry began.
func (within *Page) children(e *entry) {
	for n, id := range e.children {
		if c, ok := within.Children.find(id); ok {
			e.Nested = append(e.Nested, &childView{Child: c, ID: id, Name: e.calls[n]})
		}
	}
}

// What agents may fill of a page: entries and bytes of texts, as of a page, and in a server bytes of lines.
// Of each agent the latest lines are shown, and the turns before them are one line.
const (
	agentBytes = 40 << 10
	agentLines = 20
)

// room is what is left for agents.
type room struct {
	entries int
	texts   int64
	lines   bytesLeft
	// full is set once an agent did not fit: no more are read.
	full bool
}

// agents reads what the agents in parts of a page did, the latest first. In a server only the lines of their
// turns are on the page, and those of agents in agents on their own pages.
func (within *Page) agents(runs []*runView, left *room) {
	for _, v := range slices.Backward(runs) {
		for _, p := range slices.Backward(v.Parts) {
			for _, c := range slices.Backward(p.Agents()) {
				within.agent(c, left)
			}
		}
	}
}

// agent reads what an agent did.
func (within *Page) agent(c *childView, left *room) {
	inner := *within
	inner.Part, inner.Only, inner.Raw, inner.prefix = c.Part, "", "", agentPrefix(c.ID)
	if inner.depth++; inner.depth > maxNesting || c.Open == nil || left.full {
		return
	}
	in, secrets, err := c.Open()
	if err != nil {
		c.Page = &pageView{Notices: []string{visible(within.scrub(err.Error()))}}
		return
	}
	defer in.Close()
	inner.Secrets = secrets
	all := &kept{entries: left.entries, bytes: left.texts}
	c.Page, _ = inner.read(in, all, left) // the page says what is wrong
	left.entries -= len(all.head) + len(all.tail)
	left.texts -= all.headBytes + all.tailBytes
	if left.full = within.Part != "" && !left.lines.takes("agent", c); left.full {
		c.Page = nil
	}
}

// agentPrefix is before the ids of what an agent did, on the page of another session.
func agentPrefix(session string) string { return "a-" + session + "-" }
