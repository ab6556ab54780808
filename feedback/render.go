package feedback

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// maxKept is how many of the places that are right now are named.
const maxKept = 10

// Render is the feedback as a text for the model: what happened, each thing that is wrong and whether it was
// wrong before, what has been put right, and what to do now. It has no blank lines and no line break at its
// end, and everything in it that the model or a user wrote is neutralised as by [Quote].
//
// The text is never longer than lim.MaxBytes. Where not all issues fit, those told are a fair choice: each
// member of the proposal gets its turn, and "and N more" counts the rest. An issue is told whole; only one
// that would not fit even alone is cut. Limits that their Validate refuses are held to all the same. The
// zero value, which is no feedback, gives the empty text.
func Render(f RetryFeedback, lim Limits) string {
	if f.none() {
		return ""
	}
	w := wordingOf(f)
	text := head(f, w)
	if f.Detail != "" {
		text += "Reason given: " + inMarks(f.Detail, MaxQuoted) + "\n"
	}
	end := foot(f, w)
	text += told(f, lim.MaxIssues, lim.MaxBytes-len(end)-len(text))
	if line := kept(f); len(text)+len(line)+len(end) <= lim.MaxBytes {
		text += line
	}
	return Cut(text+end, max(lim.MaxBytes, 0))
}

// told says at most limit issues in at most room bytes: all where they fit, else a fair choice of them.
func told(f RetryFeedback, limit, room int) string {
	issues := slices.DeleteFunc(fault.SortIssues(f.Issues), func(i fault.Issue) bool {
		return restates(i, f.ErrorType)
	})
	if len(issues) <= limit {
		var all strings.Builder
		for n := 0; n < len(issues) && all.Len() <= room; n++ {
			all.WriteString(f.line(issues[n]))
		}
		if all.Len() <= room {
			return all.String()
		}
	}
	return f.choice(issues, limit, room-len("- and 9223372036854775807 more\n"))
}

// shortestLine is the room below which no issue is told: a cut one would say nothing.
const shortestLine = len("- a: required\n")

// choice tells a fair choice of the issues, in canonical order, and how many are left out.
func (f RetryFeedback) choice(issues []fault.Issue, limit, room int) string {
	lines := make([]string, len(issues))
	told, order := 0, fairOrder(issues)
	for _, n := range order {
		if told >= limit || room < shortestLine {
			break
		}
		if line := f.line(issues[n]); len(line) <= room {
			lines[n] = line
			room -= len(line)
			told++
		}
	}
	if told == 0 && len(order) > 0 && limit > 0 && room >= shortestLine {
		line := f.line(issues[order[0]])
		lines[order[0]] = Cut(strings.TrimSuffix(line, "\n"), room-1) + "\n"
		told = 1
	}
	text := strings.Join(lines, "")
	if rest := len(issues) - told; rest > 0 {
		text += fmt.Sprintf("- and %d more\n", rest)
	}
	return text
}

// restates reports whether an issue says no more than the heading and the last line do: that of the class
// itself, and those of a reply that has nothing in it to judge.
func restates(i fault.Issue, class fault.Class) bool {
	if i.Pointer != "" || i.Source != fault.FromReply || i.Got != "" || i.Value != "" {
		return false
	}
	return i.Rule == string(class) && i.Expected == "" || slices.Contains(empty, i.Rule)
}

var empty = []string{fault.RuleNoOutput, fault.RuleNoCall, fault.RuleTruncated, fault.RuleRefusal}

// line tells one issue.
func (f RetryFeedback) line(i fault.Issue) string {
	if i.Rule == fault.RuleUnknownTool && i.Expected != "" {
		names := strings.TrimPrefix(i.Expected, "one of ")
		return "- tools that exist: " + QuoteWithin(names, 2*maxExpected) + "\n"
	}
	line := "- "
	if i.Pointer != "" || i.Source != fault.FromReply {
		line += f.place(i) + ": "
	}
	switch {
	case !f.persists(i):
	case i.Rule == "required" && i.Got == "":
		line += "still missing: "
	default:
		line += "still wrong: "
	}
	return line + wrong(i, cmp.Or(i.Value, i.Sent)) + "\n"
}

// persists reports whether the attempt before had the same issue.
func (f RetryFeedback) persists(i fault.Issue) bool {
	same := func(still fault.Issue) bool { return compareKeys(still, i) == 0 }
	return slices.ContainsFunc(f.Diff.Persistent, same)
}

// place is where an issue is, in words for the model.
func (f RetryFeedback) place(i fault.Issue) string {
	switch {
	case i.Pointer != "":
		return place(i)
	case f.Source == Tool:
		return "the arguments as a whole"
	case f.ErrorType == fault.UnknownTool:
		return "the call as a whole"
	}
	return "the answer as a whole"
}

// kept names what was wrong before and is right now, so that it is not broken again; empty where there is
// nothing, and where no attempt follows.
func kept(f RetryFeedback) string {
	var places []string
	for _, fixed := range f.Diff.Fixed {
		wrong := slices.ContainsFunc(f.Issues, func(i fault.Issue) bool {
			return below(fixed.Pointer, i.Pointer) || below(i.Pointer, fixed.Pointer)
		})
		if name := place(fixed); !wrong && fixed.Pointer != "" && !slices.Contains(places, name) {
			places = append(places, name)
		}
	}
	if len(places) == 0 || f.Last() {
		return ""
	}
	more := ""
	if rest := len(places) - maxKept; rest > 0 {
		places, more = places[:maxKept], fmt.Sprintf(" and %d more", rest)
	}
	return "Already right, keep it so: " + strings.Join(places, ", ") + more + ".\n"
}

// Line is an issue in words, for a template of one's own. All its texts are neutralised as by [Quote].
type Line struct {
	// Place is where: "guests/0/name", "(whole)". Rule is the rule's stable name.
	Place, Rule string
	// Expected says what would be right; Got the kind of what was received, Value the value itself where it
	// may be shown.
	Expected, Got, Value string
	// Persistent is set where the attempt before had the same issue.
	Persistent bool
	// Text is the issue as one line: "nights: still wrong: expected integer, got string".
	Text string
}

// String is Text.
func (l Line) String() string { return l.Text }

// Lines are some issues of the feedback in words, in canonical order and without repeats: at most limit, a
// fair choice over the members of the proposal.
func (f RetryFeedback) Lines(issues []fault.Issue, limit int) []Line {
	issues = fault.SortIssues(issues)
	order := fairOrder(issues)
	order = order[:min(max(limit, 0), len(order))]
	slices.Sort(order)
	var lines []Line
	for _, n := range order {
		i := issues[n]
		lines = append(lines, Line{
			Place: place(i), Rule: Quote(i.Rule), Expected: Quote(i.Wanted()), Got: Quote(string(i.Got)),
			Value: Quote(cmp.Or(i.Value, i.Sent)), Persistent: f.persists(i),
			Text: strings.TrimSuffix(strings.TrimPrefix(f.line(i), "- "), "\n"),
		})
	}
	return lines
}

// fairOrder says in which order issues are told when not all can be: the first of each member of the
// proposal, then the second of each, and so on, so that thirty issues under /items do not hide the one under
// /city. Where all lie in one member, its members take turns. The issues must be sorted.
func fairOrder(issues []fault.Issue) []int {
	if len(issues) == 0 {
		return nil
	}
	// The first and the last of sorted pointers share what all share.
	first, last := strings.Split(issues[0].Pointer, "/"), strings.Split(issues[len(issues)-1].Pointer, "/")
	shared := 0
	for shared < min(len(first), len(last))-1 && first[shared] == last[shared] {
		shared++
	}
	order, turns := make([]int, len(issues)), map[string]int{}
	for n, i := range issues {
		tokens := strings.SplitN(i.Pointer, "/", max(shared, 1)+2)
		member := strings.Join(tokens[:min(len(tokens), max(shared, 1)+1)], "/")
		order[n] = turns[member]*len(issues) + n
		turns[member]++
	}
	slices.Sort(order)
	for n := range order {
		order[n] %= len(issues)
	}
	return order
}
