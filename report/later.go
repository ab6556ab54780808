package report

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/retake-go/retake/report/internal/told"
)

// What a page in a server has at first: the most bytes of what can be fetched later, the most lines of turns
// of each run, and how many older turns become one line.
const (
	firstBytes = 150 << 10
	firstLines = 100
	chunkTurns = 100
)

// entries returns the most entries that a page shows.
func (within *Page) entries() int {
	if within.Part != "" {
		return maxEntries
	}
	return maxPageEntries
}

// bytesLeft is how many bytes of a page are left.
type bytesLeft int

// takes reports whether a part of the page fits, and takes its room.
func (left *bytesLeft) takes(template string, view any) bool {
	rest := *left
	if pageTemplate.ExecuteTemplate(&rest, template, view) != nil {
		return false
	}
	*left = rest
	return true
}

var errFull = errors.New("the page is full")

// Write counts.
func (left *bytesLeft) Write(b []byte) (int, error) {
	if len(b) > int(*left) {
		return 0, errFull
	}
	*left -= bytesLeft(len(b))
	return len(b), nil
}

// arrange leaves of the runs what a page shows at first, and reads what agents did in it.
func (within *Page) arrange(runs []*runView, left *room) []*runView {
	inServer, inAgent := within.Part != "", within.prefix != ""
	switch {
	case within.Only != "":
		runs = within.only(runs)
	case inAgent:
		within.outline(runs)
	}
	if !inServer || !inAgent {
		within.agents(runs, left)
	}
	if inServer && !inAgent && within.Only == "" {
		within.shorten(runs)
	}
	return runs
}

// at returns the address of a part of the page.
func (within *Page) at(id string) string { return within.Part + url.QueryEscape(id) }

// outline leaves lines of what an agent did. In a server all of them are fetched when they are opened.
func (within *Page) outline(runs []*runView) {
	for _, v := range runs {
		v.Parts = within.chunked(v.Parts)
		for _, p := range v.Parts {
			if within.Part != "" {
				p.Later = within.at(p.ID)
			}
		}
	}
}

// shorten makes a page short: what does not fit is fetched when it is opened. The latest run comes first, and
// of its turns the failures, which get at most half of the room, and then the last ones.
func (within *Page) shorten(runs []*runView) {
	left := bytesLeft(firstBytes)
	for _, v := range slices.Backward(runs) {
		if v.Parts = within.chunked(v.Parts); !left.takes("policies", v) {
			v.LaterPolicies = within.at(v.PoliciesID())
		}
		if len(v.Costs) > 0 && !left.takes("costs", v.Costs) {
			v.LaterCosts = within.at(v.CostsID())
		}
		fitting := func(failed bool, left *bytesLeft) {
			for _, p := range slices.Backward(v.Parts) {
				if p.Failed() == failed && (p.texts() > int64(*left) || !left.takes("sections", p.Sections)) {
					p.Later = within.at(p.ID)
				}
			}
		}
		half := left / 2
		left -= half
		fitting(true, &half)
		left += half
		fitting(false, &left)
	}
}

// chunked puts the oldest parts of a run together, if there are many.
func (within *Page) chunked(parts []*part) (all []*part) {
	lines := firstLines
	if within.prefix != "" {
		lines = agentLines
	}
	for len(parts) > lines {
		var turns []*section
		for len(turns) < chunkTurns && len(parts) > lines {
			turns, parts = append(turns, parts[0].Sections...), parts[1:]
		}
		all = append(all, chunk(turns))
	}
	return append(all, parts...)
}

// chunk returns one line for turns of any kind.
func chunk(turns []*section) *part {
	first, last, names, failed := turns[0], turns[len(turns)-1], []string{}, 0
	for _, s := range turns {
		if s.Failed {
			failed++
		}
		if s.Tools != "" {
			names = append(names, s.Tools)
		}
	}
	p := &part{ID: first.ID + "-g", Sections: turns, Marks: fmt.Sprintf("%d ✕", failed)}
	if failed == 0 {
		p.Marks = "✓"
	}
	p.Title = told.Brief(joined(", ", fmt.Sprintf("%d to %d: %d turns", first.Number, last.Number, len(turns)),
		timesOf(names)), maxTitle)
	return p
}

// only leaves one part of the runs.
func (within *Page) only(runs []*runView) (left []*runView) {
	for _, v := range runs {
		v.Parts = slices.DeleteFunc(within.chunked(v.Parts), func(p *part) bool { return p.ID != within.Only })
		isCosts, isPolicies := within.Only == v.CostsID(), within.Only == v.PoliciesID()
		if !isCosts {
			v.Costs, v.Spent = nil, ""
		}
		if !isPolicies {
			v.Policies = nil
		}
		v.Chart, v.Folded = nil, ""
		if len(v.Parts) > 0 || isCosts || isPolicies {
			left = append(left, v)
		}
	}
	return left
}

// CostsID and PoliciesID are the ids of parts of the page.
func (v *runView) CostsID() string    { return fmt.Sprintf("c%d", v.Number) }
func (v *runView) PoliciesID() string { return fmt.Sprintf("p%d", v.Number) }

// texts returns how many bytes the texts of a part have.
func (p *part) texts() (n int64) {
	for _, s := range p.Sections {
		for _, e := range s.Items {
			n += max(e.shown.bytes()-perDetails, 0)
		}
	}
	return n
}

// Failed reports whether a part is a turn that failed.
func (p *part) Failed() bool { return len(p.Sections) == 1 && p.Sections[0].Failed }
