package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// mark is a part of a text that issues are about, by their numbers from 1.
type mark struct {
	span
	issues []int
}

// maxMarks is the most issues that are marked in one text, and listed of it.
const maxMarks = 100

// marksOf finds the parts of a text that the issues are about: by the pointer of an issue, or where the JSON
// is invalid or cut off. An issue about the whole text or about what is missing has no mark, and neither has a
// text without JSON.
func marksOf(text string, issues []fault.Issue) (marks []mark) {
	j, ok := findJSON(text)
	if !ok {
		return nil
	}
	for n, i := range issues[:min(len(issues), maxMarks)] {
		at, found := j.locate(i.Pointer)
		if i.Source == fault.FromJSON && i.Rule != fault.RuleDuplicateKey {
			at, found = breakAt(j.text, j.end), true
		}
		if found {
			marks = append(marks, mark{at, []int{n + 1}})
		}
	}
	return merge(marks)
}

// maxBreak is the most bytes that are marked of invalid JSON.
const maxBreak = 24

// breakAt returns the invalid part at an offset: the rest of the word there, or the end of the text.
func breakAt(text string, at int) span {
	end := at
	inWord := func() bool { return end == at || strings.IndexByte(" \t\r\n,:{}[]\"", text[end]) < 0 }
	for end < len(text) && end-at < maxBreak && inWord() {
		end++
	}
	for end < len(text) && text[end]&0xc0 == 0x80 {
		end++
	}
	return span{at, end}
}

// merge sorts marks and joins those of one place.
func merge(marks []mark) []mark {
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Or(a.begin-b.begin, b.end-a.end) })
	merged := marks[:0]
	for _, m := range marks {
		if n := len(merged); n > 0 && merged[n-1].span == m.span {
			merged[n-1].issues = append(merged[n-1].issues, m.issues...)
			continue
		}
		merged = append(merged, m)
	}
	return merged
}
