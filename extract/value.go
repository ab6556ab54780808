package extract

import (
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// Value returns the JSON value in text, as strict JSON, with the repairs that it took. It is the whole text
// if that is one value, else the first fence with one value, else the first object or array in the text. A
// list of numbers such as "[1]" is only taken if there is nothing else. A scalar counts only as the whole
// text. Thoughts of the model before the answer, in tags such as <think>, are left out, and so is the text
// before a </think> without an opening tag.
//
// Nothing is taken from a value that is broken or cut off: then broken has the reason and the place. All
// three results are nil if there is no value in the text. The slices are the caller's own.
func Value(text string, opt Options) (raw []byte, repairs []Repair, broken *Broken) {
	text = text[:min(len(text), maxText)]
	s := seeker{text: text, opt: opt, from: afterThoughts(text)}
	ways := [...]func(*seeker){(*seeker).whole, (*seeker).answer, (*seeker).fences, (*seeker).running}
	for _, seek := range ways {
		if seek(&s); s.points > 0 { // later ways give fewer points
			break
		}
	}
	if s.found == nil || s.points == 0 && s.broken != nil {
		return nil, nil, s.broken
	}
	return s.found, sortRepairs(s.repairs), nil
}

// seeker looks for one value.
type seeker struct {
	text string
	opt  Options
	// from is where the search begins.
	from   int
	reader reader
	// at is the offset after the first byte of what was read last, or 0. node is what it was read as.
	at, node int
	good     bool
	// found is the value with the most points so far. repairs are what it took.
	found   []byte
	points  int
	repairs []Repair
	broken  *Broken
}

// read reads a value at pos and returns its node and its end. What was just read is not read again.
func (s *seeker) read(pos int) (n, end int, ok bool) {
	r := &s.reader
	if s.at == pos+1 {
		return s.node, r.pos, s.good
	}
	r.start(s.text, pos, len(s.text))
	r.within, r.outline = 1, true // a Python call is no value
	n, ok = r.value(0, 0)
	for _, repair := range r.repairs {
		if ok && s.opt.isOff(repair.Kind) {
			ok = r.fail(fault.RuleSyntax, repair.Offset)
		}
	}
	s.at, s.node, s.good = pos+1, n, ok
	return n, r.pos, ok
}

// fail keeps the first fault.
func (s *seeker) fail() {
	if s.broken == nil {
		first := *s.reader.fault
		s.broken = &first
	}
}

// The points of a value. That with the most in a text is taken, or the first of equals.
const (
	numbers         = 0 // a list of numbers, such as the [1] of a footnote
	moreThanNumbers = 2
	aloneInFence    = 4 // it is all of a fence
	wholeText       = 8 // it is all of the text, or all after a thought
)

// take keeps the value that was just read, from start to end, with the repairs for what is around it, unless
// an earlier one has as many points. It returns false if one of these repairs is switched off.
func (s *seeker) take(points, start, end int, around ...Repair) bool {
	var some [4]Repair // so that what is not kept takes no memory
	around = append(some[:0], around...)
	first, after := skipSpace(s.text, textStart(s.text)), skipSpace(s.text, end)
	for _, r := range around { // text beyond a mark around the value
		if r.Offset < start {
			start = r.Offset
		}
	}
	if first < start {
		around = append(around, Repair{Prose, first})
	}
	if after < len(s.text) {
		around = append(around, Repair{Prose, after})
	}
	for _, r := range around {
		if s.opt.isOff(r.Kind) {
			return false
		}
	}
	if s.found == nil || points > s.points {
		s.found, s.points = slices.Clone(s.reader.out), points
		s.repairs = append(slices.Clone(s.reader.repairs), around...)
	}
	return true
}

// whole reads the text as one value.
func (s *seeker) whole() {
	start := skipSpace(s.text, s.from)
	if start == len(s.text) {
		return
	}
	_, end, ok := s.read(start)
	if ok && skipSpace(s.text, end) == len(s.text) {
		s.take(wholeText, start, end)
		return
	}
	if c := s.text[start]; !ok && (c == '{' || c == '[') && !s.isProse() {
		s.fail()
	}
}

// answer reads the text after a thought that was never opened as one value.
func (s *seeker) answer() {
	if s.from != textStart(s.text) {
		return
	}
	at := unopenedThought(s.text, s.from)
	for pos := s.from; at >= 0; at = unopenedThought(s.text, pos) {
		if pos = s.around(pos, at); pos < 0 {
			s.from, s.broken = tagAt(s.text, at).end, nil
			s.whole()
			return
		}
	}
}

// around returns the end of a value that begins at or after pos and has the offset at in it; -1 if there is
// none.
func (s *seeker) around(pos, at int) int {
	for pos < at {
		if c := s.text[pos]; c != '{' && c != '[' {
			pos++
			continue
		}
		_, end, ok := s.read(pos)
		if ok && end > at {
			return end
		}
		pos = max(end, pos+1)
	}
	return -1
}

// fences looks for a fence that is one value.
func (s *seeker) fences() {
	for pos := s.from; ; {
		i := strings.Index(s.text[pos:], "```")
		if i < 0 {
			return
		}
		m := fenceAt(s.text, pos+i)
		start := skipSpace(s.text, m.end)
		if pos = m.end; start == len(s.text) || s.text[start] != '{' && s.text[start] != '[' {
			continue
		}
		_, end, ok := s.read(start)
		pos = max(end, pos)
		if !ok {
			if !s.isProse() {
				s.fail()
			}
			continue
		}
		closing := skipSpace(s.text, end)
		if closing < len(s.text) && !strings.HasPrefix(s.text[closing:], "```") {
			continue
		}
		if closing < len(s.text) {
			end = closing + m.ticks
		}
		if s.take(aloneInFence, start, min(end, len(s.text)), Repair{formFence, m.start}) {
			return
		}
	}
}

// running looks for the first object or array in running text.
func (s *seeker) running() {
	var tag, fenced mark
	for pos := s.from; pos < len(s.text); {
		m := mark{}
		switch c := s.text[pos]; {
		case c == '{' || c == '[':
			end, more := s.candidate(pos, tag, fenced)
			if !more {
				return
			}
			pos, tag = end, mark{}
			continue
		case c == '<' || c == '`':
			m = markAt(s.text, pos)
		}
		switch {
		case m.kind == fence && m.ticks >= 3 && fenced.kind == noMark:
			fenced = m
		case m.kind == fence && m.ticks == fenced.ticks:
			fenced = mark{}
		case m.kind == noMark && isSpace(s.text[pos]):
			m = tag
		}
		tag = m
		pos = max(pos+1, m.end)
	}
}

// candidate reads the object or array at start, and reports whether to continue at its end.
func (s *seeker) candidate(start int, tag, fenced mark) (end int, more bool) {
	n, end, ok := s.read(start)
	if !ok {
		if s.isProse() {
			return max(end, start+1), true
		}
		s.fail()
		return end, false
	}
	var around []Repair
	if fenced.kind != noMark {
		around = append(around, Repair{formFence, fenced.start})
		if code := skipSpace(s.text, fenced.end); code < start {
			around = append(around, Repair{Prose, code})
		}
	}
	behind := end
	if tag.kind != noMark && tag.kind != fence {
		around, behind = append(around, Repair{formTag, tag.start}), s.tagEnd(end)
	}
	points := moreThanNumbers
	if s.isNumbers(n) {
		points = numbers
	}
	s.take(points, start, behind, around...)
	return behind, s.points == 0
}

// tagEnd returns the end of a closing tag that follows end, or end itself.
func (s *seeker) tagEnd(end int) int {
	if next := skipSpace(s.text, end); next < len(s.text) && s.text[next] == '<' {
		if m := tagAt(s.text, next); m.kind != noMark {
			return m.end
		}
	}
	return end
}

// isProse reports whether what was just read and broke is a bracket of running text: it has no member of an
// object, and only scalars of a list.
func (s *seeker) isProse() bool {
	r := &s.reader
	return !r.cut && r.fault.Rule == fault.RuleSyntax && r.count > 1 && s.isNumbers(1) &&
		(r.at(1).kind == list || !r.at(1).filled)
}

// isNumbers reports whether node n has no children but scalars.
func (s *seeker) isNumbers(n int) bool {
	read := s.reader.at(n)
	return !read.mixed && (read.kind == list || !read.filled && read.open)
}
