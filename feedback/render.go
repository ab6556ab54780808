package feedback

import (
	"cmp"
	"slices"
	"strconv"
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
// that would not fit even alone is cut. Limits that their Validate refuses are held to all the same. Of the
// zero value, which is no feedback, it is empty.
func Render(f RetryFeedback, lim Limits) string {
	if f.none() {
		return ""
	}
	var room [512]byte
	w := wordingOf(&f)
	b := appendHead(room[:0], &f, w)
	if f.Detail != "" {
		b = appendInMarks(append(b, "Reason given: "...), f.Detail, MaxQuoted)
		b = append(b, '\n')
	}
	var below [160]byte
	foot := appendFoot(below[:0], &f, w)
	p := page{f: &f, max: lim.MaxIssues, end: lim.MaxBytes - len(foot), all: fault.SameIssues(f.Issues, f.Diff.Persistent)}
	b = p.appendIssues(b)
	b = p.appendKept(b)
	b = append(b, foot...)
	return cut(string(b), max(lim.MaxBytes, 0))
}

// page is the middle of a rendered text: at most max issues, and nothing beyond byte end.
type page struct {
	f   *RetryFeedback
	max int
	end int
	// all is set where all issues are those of the attempt before.
	all bool
}

// appendIssues tells all issues where they fit, else a fair choice of them.
func (p *page) appendIssues(b []byte) []byte {
	issues := p.told()
	start := len(b)
	for n := range issues {
		if n >= p.max || len(b) > p.end {
			break
		}
		b = p.appendLine(b, &issues[n])
	}
	if len(issues) <= p.max && len(b) <= p.end {
		return b
	}
	return p.appendChoice(b[:start], issues)
}

// told are the issues that say more than the heading, in canonical order.
func (p *page) told() []fault.Issue {
	issues := fault.SortedIssues(p.f.Issues)
	for n := range issues {
		if restates(&issues[n], p.f.ErrorType) {
			return slices.DeleteFunc(slices.Clone(issues), func(i fault.Issue) bool { return restates(&i, p.f.ErrorType) })
		}
	}
	return issues
}

// restates reports whether an issue says no more than the heading and the last line do: that of the class
// itself, and those of a reply that has nothing in it to judge.
func restates(i *fault.Issue, class fault.Class) bool {
	if i.Pointer != "" || i.Source != fault.FromReply || i.Got != "" || i.Value != "" {
		return false
	}
	return i.Rule == string(class) && i.Expected == "" || slices.Contains(empty, i.Rule)
}

var empty = []string{fault.RuleNoOutput, fault.RuleNoCall, fault.RuleTruncated, fault.RuleRefusal}

// shortestLine is the room below which no issue is told: a cut one would say nothing.
const shortestLine = len("- a: required\n")

// roomForMore is what the line "- and N more" takes at most.
const roomForMore = len("- and 9223372036854775807 more\n")

func (p *page) appendChoice(b []byte, issues []fault.Issue) []byte {
	var lines []string
	var told []int
	room := p.end - len(b) - roomForMore
	order := fairOrder(issues)
	for _, n := range order {
		if len(told) >= p.max || room < shortestLine {
			break
		}
		line := string(p.appendLine(nil, &issues[n]))
		if len(line) > room {
			continue
		}
		room -= len(line)
		told, lines = append(told, n), append(lines, line)
	}
	if len(told) == 0 && len(order) > 0 && p.max > 0 && room >= shortestLine {
		line := string(p.appendLine(nil, &issues[order[0]]))
		told, lines = order[:1], []string{cut(strings.TrimSuffix(line, "\n"), room-1) + "\n"}
	}
	for _, n := range slices.Sorted(slices.Values(told)) {
		b = append(b, lines[slices.Index(told, n)]...)
	}
	if rest := len(issues) - len(told); rest > 0 {
		b = strconv.AppendInt(append(b, "- and "...), int64(rest), 10)
		b = append(b, " more\n"...)
	}
	return b
}

// appendLine tells one issue.
func (p *page) appendLine(b []byte, i *fault.Issue) []byte {
	if i.Rule == fault.RuleUnknownTool && i.Expected != "" {
		b = append(b, "- tools that exist: "...)
		b = appendQuoted(b, strings.TrimPrefix(i.Expected, "one of "), 2*maxExpected)
		return append(b, '\n')
	}
	b = append(b, "- "...)
	if i.Pointer != "" || i.Source != fault.FromReply {
		b = append(p.appendPlace(b, i), ": "...)
	}
	switch {
	case !p.all && !p.persists(i):
	case i.Rule == "required" && i.Got == "":
		b = append(b, "still missing: "...)
	default:
		b = append(b, "still wrong: "...)
	}
	return append(appendFault(b, i, cmp.Or(i.Value, i.Sent)), '\n')
}

func (p *page) persists(i *fault.Issue) bool {
	still := p.f.Diff.Persistent
	for n := range still {
		if compareKeys(&still[n], i) == 0 {
			return true
		}
	}
	return false
}

func (p *page) appendPlace(b []byte, i *fault.Issue) []byte {
	switch {
	case i.Pointer != "":
		return appendName(b, i.Place())
	case p.f.Source == Tool:
		return append(b, "the arguments as a whole"...)
	case p.f.ErrorType == fault.UnknownTool:
		return append(b, "the call as a whole"...)
	}
	return append(b, "the answer as a whole"...)
}

// appendKept names what was wrong before and is right now, so that it is not broken again: only where it
// fits, and where another attempt follows.
func (p *page) appendKept(b []byte) []byte {
	if len(p.f.Diff.Fixed) == 0 || p.f.Last() {
		return b
	}
	places := p.kept()
	if len(places) == 0 {
		return b
	}
	line := append(b, "Already right, keep it so: "...)
	for n, place := range places[:min(len(places), maxKept)] {
		if n > 0 {
			line = append(line, ", "...)
		}
		line = appendName(line, place)
	}
	if rest := len(places) - maxKept; rest > 0 {
		line = strconv.AppendInt(append(line, " and "...), int64(rest), 10)
		line = append(line, " more"...)
	}
	line = append(line, ".\n"...)
	if len(line) > p.end {
		return b
	}
	return line
}

// kept are the fixed places that no issue of now concerns.
func (p *page) kept() []string {
	var places []string
	for _, fixed := range p.f.Diff.Fixed {
		wrong := slices.ContainsFunc(p.f.Issues, func(i fault.Issue) bool {
			return below(fixed.Pointer, i.Pointer) || below(i.Pointer, fixed.Pointer)
		})
		if place := fixed.Place(); !wrong && fixed.Pointer != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}
