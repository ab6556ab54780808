package feedback

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// maxCorrected is the most corrected places that are named.
const maxCorrected = 10

// Render returns the feedback as text for the model: what happened, each issue and whether it was there
// before, what was corrected, and what to do now. The text has no blank lines and does not end in a line
// break. [Quote] neutralises everything that the model or a user wrote.
//
// The text has at most lim.MaxBytes. If not all issues fit, the members of the proposal take turns, and "and
// N more" counts the rest. An issue is never cut, unless it does not fit even alone. Invalid limits are still
// kept. Zero feedback gives the empty text.
func Render(f RetryFeedback, lim Limits) string {
	if f.isZero() {
		return ""
	}
	w := wordingOf(&f)
	end := f.foot(make([]byte, 0, usualText), w)
	text := f.head(make([]byte, 0, 4*usualText), w)
	if f.Detail != "" {
		text = append(append(append(text, f.given()...), inMarks(f.Detail, MaxQuoted)...), '\n')
	}
	text = f.appendIssues(text, lim.MaxIssues, lim.MaxBytes-len(end))
	if line := f.corrected(); len(text)+len(line)+len(end) <= lim.MaxBytes {
		text = append(text, line...)
	}
	return Cut(string(append(text, end...)), max(lim.MaxBytes, 0))
}

// usualText is more than the length of what to do now, and of most issues, in bytes.
const usualText = 256

// given introduces the detail.
func (f *RetryFeedback) given() string {
	if f.ErrorType == fault.NoProgress {
		return "What was repeated: "
	}
	return "Reason given: "
}

// appendIssues appends at most limit issues to b, which then has at most room bytes. If not all fit, the
// members of the proposal take turns.
func (f *RetryFeedback) appendIssues(b []byte, limit, room int) []byte {
	issues := fault.SortIssues(f.Issues)
	restated := func(i fault.Issue) bool { return restates(i, f.ErrorType) }
	if slices.ContainsFunc(issues, restated) {
		issues = slices.DeleteFunc(slices.Clone(issues), restated)
	}
	if len(issues) <= limit {
		all := b
		for n := 0; n < len(issues) && len(all) <= room; n++ {
			all = f.line(all, issues[n])
		}
		if len(all) <= room {
			return all
		}
	}
	return f.appendFairly(b, issues, limit, room-len(b)-len("- and 9223372036854775807 more\n"))
}

// shortestLine is the room below which no issue is added: it would only be a fragment.
const shortestLine = len("- a: required\n")

// appendFairly appends a fair choice of the issues, in canonical order, and how many are left out.
func (f *RetryFeedback) appendFairly(b []byte, issues []fault.Issue, limit, room int) []byte {
	lines := make([]string, len(issues))
	told, order := 0, fairOrder(issues)
	for _, n := range order {
		if told >= limit || room < shortestLine {
			break
		}
		if line := f.line(nil, issues[n]); len(line) <= room {
			lines[n] = string(line)
			room -= len(line)
			told++
		}
	}
	if told == 0 && len(order) > 0 && limit > 0 && room >= shortestLine {
		line := string(f.line(nil, issues[order[0]]))
		lines[order[0]] = Cut(strings.TrimSuffix(line, "\n"), room-1) + "\n"
		told = 1
	}
	for _, line := range lines {
		b = append(b, line...)
	}
	if rest := len(issues) - told; rest > 0 {
		b = fmt.Appendf(b, "- and %d more\n", rest)
	}
	return b
}

// restates reports whether an issue only repeats the heading: the class itself, that a reply has no content,
// or that a call equals another.
func restates(i fault.Issue, class fault.Class) bool {
	if i.Pointer != "" || i.Source != fault.FromReply || i.Got != "" || i.Value != "" {
		return false
	}
	return i.Rule == string(class) && i.Expected == "" || slices.Contains(empty, i.Rule)
}

var empty = []string{
	fault.RuleNoOutput, fault.RuleNoCall, fault.RuleTruncated, fault.RuleRefusal, fault.RuleEqualCall,
}

// line appends one issue as a line.
func (f *RetryFeedback) line(b []byte, i fault.Issue) []byte {
	b = append(b, "- "...)
	if i.Rule == fault.RuleUnknownTool && i.Expected != "" && i.Source != fault.FromTool {
		if isToolless(i) {
			return append(b, "no tools are offered\n"...)
		}
		return append(quote(append(b, "tools that exist: "...), i.Known(), 2*maxExpected), '\n')
	}
	if i.Pointer != "" || i.Source != fault.FromReply {
		b = append(append(b, f.place(i)...), ": "...)
	}
	switch {
	case !f.persists(i):
	case ruleWords[i.Rule] == required && i.Got == "":
		b = append(b, "still missing: "...)
	default:
		b = append(b, "still wrong: "...)
	}
	return append(wrong(b, i, cmp.Or(i.Value, i.Sent)), '\n')
}

// persists reports whether the previous attempt had the same issue.
func (f *RetryFeedback) persists(i fault.Issue) bool {
	same := func(still fault.Issue) bool { return compareKeys(still, i) == 0 }
	return slices.ContainsFunc(f.Diff.Persistent, same)
}

// place returns where an issue is, in words for the model.
func (f *RetryFeedback) place(i fault.Issue) string {
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

// corrected names what was corrected, so that the model does not break it again. It is empty if nothing was
// corrected or no attempt follows.
func (f *RetryFeedback) corrected() string {
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
	if rest := len(places) - maxCorrected; rest > 0 {
		places, more = places[:maxCorrected], fmt.Sprintf(" and %d more", rest)
	}
	return "Already right, keep it so: " + strings.Join(places, ", ") + more + ".\n"
}

// Line is an issue in words, for templates. [Quote] neutralises all its texts.
type Line struct {
	// Place is where the issue is: "guests/0/name", "(whole)". Rule is the rule's stable name.
	Place, Rule string
	// Expected is what would be right. Got is the kind of what was received; Value is the value itself if it
	// may be shown.
	Expected, Got, Value string
	// Persistent reports whether the previous attempt had the same issue.
	Persistent bool
	// Text is the issue as one line: "nights: still wrong: expected integer, got string".
	Text string
}

// String returns Text.
func (l Line) String() string { return l.Text }

// Lines returns issues in words, in canonical order and without repeats. It returns at most limit; if there
// are more, the members of the proposal take turns.
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
			Text: strings.TrimSuffix(strings.TrimPrefix(string(f.line(nil, i)), "- "), "\n"),
		})
	}
	return lines
}

// fairOrder returns the order in which issues are chosen if not all fit: the first of each member of the
// proposal, then the second of each, and so on. So thirty issues under /items do not hide the one under
// /city. If all are in one member, its members take turns. The issues must be sorted.
func fairOrder(issues []fault.Issue) []int {
	if len(issues) == 0 {
		return nil
	}
	// The pointers are sorted, so all share what the first and the last share.
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
