package console

import (
	"slices"
	"time"
)

// outerOf finds the sessions in which others were made, as agents.
func outerOf(all []*watched) map[*watched]*watched {
	known := map[key]*watched{}
	for _, s := range all {
		known[s.key] = s
	}
	outer := map[*watched]*watched{}
	for _, s := range all {
		if o := known[key{s.store, s.outer}]; o != nil && s.outer != "" {
			outer[s] = o
		}
	}
	return outer
}

// line is a row where it stands in the list.
type line struct {
	*watched
	// depth is how many sessions it is in, and grey is set if it does not fit the filter itself.
	depth int
	grey  bool
	// more is how many rows after it are folded, and Unfold the address that shows them.
	more   int
	Unfold string
	// section is the section in which it stands.
	section int
}

// folded is how many agents of a session are shown below it.
const folded = 3

// families puts rows below those in which they were made. A family stands where the first of its rows would,
// and rows that do not fit the filter stand above those that do.
func families(rows []*watched, outer map[*watched]*watched, f filter, now time.Time) (lines []line) {
	fits, kids, roots := map[*watched]bool{}, map[*watched][]*watched{}, []*watched{}
	first, placed := map[*watched]*watched{}, map[*watched]bool{}
	for _, r := range rows {
		fits[r] = true
	}
	for _, r := range rows {
		at := r
		for depth := 0; depth < deepest && !placed[at]; depth++ {
			placed[at] = true
			up := outer[at]
			if up == nil || depth == deepest-1 {
				roots, first[at] = append(roots, at), r
				break
			}
			kids[up] = append(kids[up], at)
			at = up
		}
	}
	var put func(r *watched, depth, section int)
	put = func(r *watched, depth, section int) {
		lines = append(lines, line{watched: r, depth: depth, grey: !fits[r], section: section})
		below, more := kids[r], 0
		if f.Inside == "" && len(below) > folded {
			below, more = below[:folded], len(below)-folded
		}
		for _, kid := range below {
			put(kid, depth+1, section)
		}
		if more > 0 {
			g := filter{Inside: r.Session}
			g.Picks[storePick] = r.Store
			last := &lines[len(lines)-1]
			last.more, last.Unfold = more, g.at(1)
		}
	}
	for _, r := range roots {
		put(r, 0, first[r].section(now))
	}
	return lines
}

// within reports whether a row is a session with an id, or was made in it.
func within(r *watched, id string, outer map[*watched]*watched) bool {
	for depth := 0; r != nil && depth < deepest; depth++ {
		if r.Session == id {
			return true
		}
		r = outer[r]
	}
	return false
}

// sizesOf counts the rows of each section that fit, folded ones too.
func sizesOf(lines []line) (sizes [3]int) {
	for _, l := range lines {
		if sizes[l.section] += l.more; !l.grey {
			sizes[l.section]++
		}
	}
	return sizes
}

// inSection returns the lines of a section.
func inSection(lines []line, section int) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.section != section })
}
