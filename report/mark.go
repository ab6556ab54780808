package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// mark is a part of a text that issues are about.
type mark struct {
	span
	// issues are their numbers, from 1.
	issues []int
	// missing is the name of what should stand here; the span is empty then.
	missing string
}

// maxMarks bounds the issues that are looked for in one text.
const maxMarks = 100

// marksOf finds the parts of a text that issues are about: by their pointers, where a JSON value stands in
// the text; where the text breaks off or does not fit, there. Issues about the whole are about no part. A
// text without JSON has no marks.
func marksOf(text string, issues []fault.Issue) []mark {
	j, ok := findJSON(text)
	if !ok {
		return nil
	}
	var marks []mark
	for n, i := range issues[:min(len(issues), maxMarks)] {
		for _, m := range j.marks(i) {
			m.issues = []int{n + 1}
			marks = append(marks, m)
		}
	}
	return merge(marks)
}

// marks are the marks of one issue.
func (j *jsonText) marks(i fault.Issue) []mark {
	if i.Source == fault.FromJSON && i.Rule != fault.RuleDuplicateKey {
		return []mark{{span: breakAt(j.text, j.end)}}
	}
	if i.Pointer == "" {
		return nil
	}
	spans, missing := j.locate(i.Pointer, strings.HasSuffix(i.Rule, "Properties"))
	var marks []mark
	for _, s := range spans {
		m := mark{span: s}
		if missing && s.begin == s.end {
			m.missing = unescape(i.Pointer[strings.LastIndexByte(i.Pointer, '/')+1:])
		}
		marks = append(marks, m)
	}
	return marks
}

// maxBreak is how many bytes are marked of what does not fit.
const maxBreak = 24

// breakAt is what does not fit at an offset: the rest of the word there, or the place where the text ends
// too soon.
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

// merge puts marks in order and makes one of those of the same place.
func merge(marks []mark) []mark {
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(a.begin-b.begin, b.end-a.end, cmp.Compare(a.missing, b.missing))
	})
	merged := marks[:0]
	for _, m := range marks {
		if n := len(merged); n > 0 && merged[n-1].span == m.span && merged[n-1].missing == m.missing {
			merged[n-1].issues = append(merged[n-1].issues, m.issues...)
			continue
		}
		merged = append(merged, m)
	}
	return merged
}
