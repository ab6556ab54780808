package report

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// textView is a text as a page shows it: what is long is cut into what is shown, and what stands before and
// after it. Same says what is left out, for it was shown before.
type textView struct {
	Before, Shown, After               []segment
	BeforeSize, AfterSize, Label, Same string
}

const (
	// shownBytes and shownLines are how much of a text is shown at once.
	shownBytes = 3 << 9
	shownLines = 40
	// leadBytes is how much is shown before the first mark.
	leadBytes = 200
)

// viewOf shows a text with its marks.
func viewOf(label, text string, marks []mark) *textView {
	begin, end := window(text, marks)
	var shown []mark
	for _, m := range marks {
		if m.begin >= begin && m.begin <= end {
			m.begin, m.end = m.begin-begin, min(m.end, end)-begin
			shown = append(shown, m)
		}
	}
	return &textView{
		Label:  label,
		Before: segments(text[:begin], nil), BeforeSize: sizeText(begin),
		Shown: segments(text[begin:end], shown),
		After: segments(text[end:], nil), AfterSize: sizeText(len(text) - end),
	}
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

// leastShared is how many bytes two texts must share for them to be left out of the second.
const leastShared = 200

// news is what a text has that the text before has not: whole lines. same is how many bytes it shares with
// it; where that is little the text is given whole.
func news(was, is string) (part string, same int) {
	begin, end := 0, len(is)
	for begin < min(len(was), len(is)) && was[begin] == is[begin] {
		begin++
	}
	if begin == len(was) && begin == len(is) {
		return "", begin
	}
	begin = strings.LastIndexByte(is[:begin], '\n') + 1
	for end > begin && len(was)-(len(is)-end) > begin && is[end-1] == was[len(was)-(len(is)-end)-1] {
		end--
	}
	if line := strings.IndexByte(is[end:], '\n'); line < 0 {
		end = len(is)
	} else {
		end += line
	}
	if same = begin + len(is) - end; same < leastShared {
		return is, 0
	}
	return is[begin:end], same
}

// issueView is an issue of an attempt: its number, what it says, and whether it is new.
type issueView struct {
	N                              int
	Place, Says, Rule, Since, Tone string

	id string
}

// issueViews lists issues.
func issueViews(issues []fault.Issue) []issueView {
	var views []issueView
	for n, i := range issues[:min(len(issues), maxMarks)] {
		views = append(views, issueView{
			N: n + 1, Place: i.Place(), Says: strings.TrimPrefix(i.String(), i.Place()+": "),
			Rule: joined(", ", i.Rule, string(i.Source)), id: i.ID(),
		})
	}
	return views
}

// tellSince says of issues since when they are there.
func tellSince(views []issueView, diff feedback.Diff) {
	is := map[string][2]string{}
	for _, i := range diff.New {
		is[i.ID()] = [2]string{"new", "bad"}
	}
	for _, i := range diff.Persistent {
		is[i.ID()] = [2]string{"still", "warn"}
	}
	for n, v := range views {
		views[n].Since, views[n].Tone = is[v.id][0], is[v.id][1]
	}
}
