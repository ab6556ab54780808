package feedback

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// compare needs now in canonical order.
func compare(before, now []fault.Issue, class fault.Class) Diff {
	if len(now) > 0 && len(before) == len(now) && &before[0] == &now[0] { // a failure that came again shares them
		return Diff{Persistent: now[:len(now):len(now)]}
	}
	before = fault.SortedIssues(before)
	if sameKeys(before, now) {
		return Diff{Persistent: now[:len(now):len(now)]}
	}
	reached := reach(now, class)
	return Diff{
		Fixed: pick(before, func(i *fault.Issue) bool {
			return !has(now, i) && layer(i) <= reached && !hidden(i, now)
		}),
		New:        pick(now, func(i *fault.Issue) bool { return !has(before, i) }),
		Persistent: pick(now, func(i *fault.Issue) bool { return has(before, i) }),
	}
}

// sameKeys reports whether nothing was put right and nothing is new, as is mostly so where there was anything
// before.
func sameKeys(before, now []fault.Issue) bool {
	if len(before) != len(now) || len(now) == 0 {
		return false
	}
	for n := range now {
		if compareKeys(&before[n], &now[n]) != 0 {
			return false
		}
	}
	return true
}

// pick returns the issues that fit, nil where none does, and the slice itself where all do.
func pick(issues []fault.Issue, fits func(*fault.Issue) bool) []fault.Issue {
	from := 0
	for from < len(issues) && fits(&issues[from]) {
		from++
	}
	if from == len(issues) && from > 0 {
		return issues[:from:from]
	}
	var picked []fault.Issue
	if from > 0 {
		picked = append(make([]fault.Issue, 0, len(issues)), issues[:from]...)
	}
	for n := from; n < len(issues); n++ {
		if !fits(&issues[n]) {
			continue
		}
		if picked == nil {
			picked = make([]fault.Issue, 0, len(issues)-n)
		}
		picked = append(picked, issues[n])
	}
	return picked
}

// has reports whether sorted issues hold one with the same ID; it compares what the ID is made of and hashes
// nothing.
func has(sorted []fault.Issue, issue *fault.Issue) bool {
	low, high := 0, len(sorted)
	for low < high {
		middle := (low + high) / 2
		switch c := compareKeys(&sorted[middle], issue); {
		case c == 0:
			return true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}

func compareKeys(a, b *fault.Issue) int {
	if a.Pointer != b.Pointer {
		return cmp.Compare(a.Pointer, b.Pointer)
	}
	if a.Rule != b.Rule {
		return cmp.Compare(a.Rule, b.Rule)
	}
	if a.Expected != b.Expected {
		return cmp.Compare(a.Expected, b.Expected)
	}
	return 0
}

// The checks follow one another: what is no JSON is not held to the schema, and what the schema refuses is
// not seen by the tool. Issues of an unknown source count as found first.
var layers = []fault.Source{fault.FromReply, fault.FromJSON, fault.FromSchema, fault.FromRules, fault.FromTool}

func layer(i *fault.Issue) int {
	if i.Rule == fault.RuleReducer {
		return len(layers)
	}
	return max(0, slices.Index(layers, i.Source))
}

// reach is the last layer that surely looked at the attempt; -1 where that is not known.
func reach(now []fault.Issue, class fault.Class) int {
	if class == fault.Reducer {
		return len(layers)
	}
	reached := -1
	for n := range now {
		reached = max(reached, layer(&now[n]))
	}
	return reached
}

// hidden reports whether an issue of now may have kept the check from looking at the place of the earlier
// one: a wrong kind at or above it, say. An earlier issue about the kind itself is out of the way once
// another rule speaks of its place.
func hidden(earlier *fault.Issue, now []fault.Issue) bool {
	for n := range now {
		i := &now[n]
		if i.Pointer == earlier.Pointer && (earlier.Rule == "type" || earlier.Rule == "required") {
			continue
		}
		if below(earlier.Pointer, i.Pointer) {
			return true
		}
	}
	return false
}

// below reports whether pointer is place or something in it.
func below(pointer, place string) bool {
	rest, ok := strings.CutPrefix(pointer, place)
	return ok && (rest == "" || rest[0] == '/')
}
