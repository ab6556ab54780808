package report

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// textView is a text as a page shows it: what is long is cut into what is shown, and what stands before and
// after it.
type textView struct {
	Before, Shown, After         []segment
	BeforeSize, AfterSize, Label string
}

const (
	// shownBytes and shownLines are how much of a text is shown at once.
	shownBytes = 3 << 9
	shownLines = 40
	// leadBytes is how much is shown before the first mark.
	leadBytes = 200
)

// viewOf shows a text with its marks; nil where it is empty.
func viewOf(label, text string, marks []mark) *textView {
	if text == "" {
		return nil
	}
	v := &textView{Label: label}
	begin, end := window(text, marks)
	v.Before, v.BeforeSize = segments(text[:begin], nil), sizeText(begin)
	var shown []mark
	for _, m := range marks {
		if m.begin >= begin && m.begin <= end {
			m.begin, m.end = m.begin-begin, min(m.end, end)-begin
			shown = append(shown, m)
		}
	}
	v.Shown = segments(text[begin:end], shown)
	v.After, v.AfterSize = segments(text[end:], nil), sizeText(len(text)-end)
	return v
}

// window is the part of a text that is shown: its beginning, or what stands around the first mark.
func window(text string, marks []mark) (begin, end int) {
	if len(marks) > 0 && marks[0].begin > shownBytes-leadBytes {
		begin = boundary(text, marks[0].begin-leadBytes)
	}
	end = boundary(text, min(len(text), begin+shownBytes))
	lines := 0
	for at := begin; at < end; at++ {
		if text[at] == '\n' {
			if lines++; lines == shownLines {
				end = at
			}
		}
	}
	// A cut that leaves little out helps nobody.
	if len(text)-end < shownBytes/8 && strings.Count(text[end:], "\n") < shownLines/8 {
		end = len(text)
	}
	return begin, end
}

// boundary is the beginning of the character at an offset.
func boundary(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// issueView is an issue of an attempt: its number, what it says, and whether it is new.
type issueView struct {
	N                   int
	Place, Says, Rule   string
	Source, Since, Tone string
}

// maxIssues bounds the issues that are listed of one call.
const maxIssues = 100

// issueViews lists issues, and says since when they are there.
func issueViews(issues []fault.Issue, fb *feedback.RetryFeedback) []issueView {
	var diff feedback.Diff
	if fb != nil {
		diff = fb.Diff
	}
	is := map[string][2]string{}
	for _, i := range diff.New {
		is[i.ID()] = [2]string{"new", "bad"}
	}
	for _, i := range diff.Persistent {
		is[i.ID()] = [2]string{"still", "warn"}
	}
	var views []issueView
	for n, i := range issues[:min(len(issues), maxIssues)] {
		since := is[i.ID()]
		text := strings.TrimPrefix(i.String(), i.Place()+": ")
		views = append(views, issueView{
			N: n + 1, Place: visible(i.Place()), Says: visible(text), Rule: visible(i.Rule),
			Source: visible(string(i.Source)), Since: since[0], Tone: since[1],
		})
	}
	return views
}
