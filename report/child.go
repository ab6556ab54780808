package report

import (
	"bytes"
	"io"
	"iter"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// Child is the session of an agent that is a tool, as a report shows it with the call.
type Child struct {
	// Link is the address of its page, and Says what goes on in it, in a few words: for a page in a server.
	Link, Says string
	// Journal is its journal, whose timeline is shown; nil for none. The report closes it.
	Journal io.ReadCloser
}

// Children finds the session of a call by its id (see [machine.ChildID]); false if the call has none. A
// journal that was not made in a call, as [machine.Outer] says, is not shown.
type Children func(session string) (Child, bool)

// find finds the session of a call.
func (of Children) find(session string) (c Child, ok bool) {
	if of == nil {
		return c, false
	}
	if c, ok = of(session); !ok || c.Journal == nil {
		return c, ok
	}
	var first bytes.Buffer
	rec, err := journal.NewReader(io.TeeReader(c.Journal, &first)).Next()
	if err == nil && rec.Header != nil {
		if _, made := machine.Outer(rec.Header.Session, rec.Header.Config.Seed); !made {
			_ = c.Journal.Close() // it was only read
			return Child{}, false
		}
	}
	c.Journal = begun{io.MultiReader(&first, c.Journal), c.Journal}
	return c, true
}

// begun is a journal whose beginning was read.
type begun struct {
	io.Reader
	io.Closer
}

// maxNesting is how deep timelines are nested. A page shows the timelines of maxChildren calls, maxTimeline
// bytes of each.
const (
	maxNesting  = 8
	maxChildren = 100
	maxTimeline = 64 << 10
)

// childrenOf are the ids that sessions of calls have.
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
		if c, ok := t.children.find(id); ok && c.Journal != nil {
			t.child(id, c.Journal)
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
		t.more(red, line(id+": "+err.Error()))
	}
}

const indent = "    "

// childView is a child on a page.
type childView struct {
	ID, Link, Says, Timeline string
	// Name is the tool that the agent is.
	Name string
}

// State is what its words begin with: its state.
func (c childView) State() string {
	state, _, _ := strings.Cut(c.Says, ".")
	return state
}

// children sets what a page shows of the agents that entries began.
func (within *Page) children(entries iter.Seq[*entry]) {
	left := maxChildren
	for e := range entries {
		for n, id := range e.children {
			c, ok := within.Children.find(id)
			if !ok {
				continue
			}
			v := childView{ID: id, Link: c.Link, Says: c.Says, Name: e.calls[n]}
			if c.Journal != nil {
				v.Timeline = within.timeline(c.Journal, left > 0)
				left--
			}
			e.Nested = append(e.Nested, v)
		}
	}
}

// timeline returns the timeline of a child, as far as a page shows it.
func (within *Page) timeline(in io.ReadCloser, shown bool) string {
	defer in.Close()
	if !shown {
		return "left out: the page is full"
	}
	var out bytes.Buffer
	text := ""
	if err := Text(&out, in, Style{Children: within.Children}); err != nil {
		text = "\n" + line(err.Error())
	}
	return clip(within.scrub(out.String()+text), maxTimeline)
}
