package report

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/report/internal/told"
)

type (
	Segment = segment
)

var (
	Segments = segments
	Wrap     = wrap
	Width    = columnsOf
	PlainOne = told.Line
	Bar      = bar
	News     = news
	Values   = valuesText
)

const MinWidth = minWidth

// Part is a marked part of a text.
type Part struct {
	Text   string
	Issues []int
}

// Marked returns the parts of a text that issues are about.
func Marked(text string, issues []fault.Issue) []Part {
	var parts []Part
	for _, m := range marksOf(text, issues) {
		parts = append(parts, Part{text[m.begin:m.end], m.issues})
	}
	return parts
}

// MarkedSegments returns the segments of a text with its marks.
func MarkedSegments(text string, issues []fault.Issue) []Segment {
	return segments(text, marksOf(text, issues))
}

// Located returns what a pointer names in a JSON text.
func Located(text, pointer string) (found string, is bool) {
	j := readJSON(text, 0)
	at, is := j.locate(pointer)
	return text[at.begin:at.end], is
}

// Keep adds entries with details of the given sizes. It returns which entries are kept, and which of
// them lost their details.
func Keep(entries int, bytes int64, sizes []int) (left, bare []int, omitted, stripped int) {
	k := &kept{entries: entries, bytes: bytes}
	for n, size := range sizes {
		k.add(entry{Run: n, shown: &details{size: int64(size) + 512}})
	}
	for e := range k.all() {
		left = append(left, e.Run)
		if e.bare {
			bare = append(bare, e.Run)
		}
	}
	return left, bare, k.omitted, k.stripped
}
