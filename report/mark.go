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
	root, broken, ok := findJSON(text)
	if !ok {
		return nil
	}
	var marks []mark
	for n, i := range issues {
		if n == maxMarks {
			break
		}
		for _, m := range marksAt(text, &root, broken, i) {
			m.issues = []int{n + 1}
			marks = append(marks, m)
		}
	}
	return merge(marks)
}

// marksAt are the marks of one issue.
func marksAt(text string, root *value, broken int, i fault.Issue) []mark {
	if i.Source == fault.FromJSON && i.Rule != fault.RuleDuplicateKey {
		if broken < 0 {
			broken = root.end
		}
		return []mark{{span: breakAt(text, broken)}}
	}
	if i.Pointer == "" {
		return nil
	}
	spans, missing := locate(root, i.Pointer, strings.HasSuffix(i.Rule, "Properties"))
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

// breakAt is what does not fit at an offset: the rest of the word there, or the place where the text ends too
// soon.
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

// maxTries bounds how many brackets of a text are tried as the beginning of its JSON.
const maxTries = 32

// findJSON finds the JSON of a text: the whole of it, else the first object or list that is whole,
// else the first object there is.
func findJSON(text string) (root value, broken int, ok bool) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || isRedacted(trimmed) {
		return value{}, 0, false
	}
	begin := len(text) - len(trimmed)
	root, broken = walk(text, begin)
	if strings.IndexByte("{[", trimmed[0]) >= 0 || broken < 0 && strings.TrimSpace(text[root.end:]) == "" {
		return root, broken, true
	}
	at := begin
	for n := 0; n < maxTries; n++ {
		next := strings.IndexAny(text[at:], "{[")
		if next < 0 {
			break
		}
		at += next
		v, b := walk(text, at)
		if b < 0 || !ok && text[at] == '{' {
			root, broken, ok = v, b, true
		}
		if b < 0 {
			break
		}
		at++
	}
	return root, broken, ok
}

// jsonPart is the JSON of a text where it holds some, else the text.
func jsonPart(text string) string {
	if root, broken, ok := findJSON(text); ok && broken < 0 && root.kind != 0 {
		return text[root.begin:root.end]
	}
	return text
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
