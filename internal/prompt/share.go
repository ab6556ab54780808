package prompt

import "github.com/retake-go/retake/feedback"

// Item is the feedback on one of several calls of a reply.
type Item struct {
	// Feedback is what is wrong with the call; nil if the policy emits none.
	Feedback *feedback.RetryFeedback
	// Again reports that an item before it is about the same tool.
	Again bool
}

const (
	// Withheld is the text for a call without feedback: every call needs an answer.
	Withheld = "Not accepted."
	// NoRoom is the text for a call if the limits have no room for more.
	NoRoom = "Not accepted. The answers to other calls of the same reply say what is wrong with those."
)

// leastBytes is the room, in bytes, below which feedback on a call is left out. fairBytes is the least room
// of each call if the feedback on all does not fit.
const (
	leastBytes = 256
	fairBytes  = 512
)

// RenderAll returns the feedback on several calls of one reply as texts, in the order of the items, and how
// much of the limits they use together. If not all fit, calls of different tools come first: as many as have
// a fair room share the limits equally, and the others are told [NoRoom]. A single item may use all.
//
// words renders the texts. Nil means [feedback.Render], which also replaces words where it fails; err is its
// first error. lim may be what is left of limits, and even below 0. RenderAll is safe for concurrent use if
// words is.
func RenderAll(items []Item, lim feedback.Limits, words func(feedback.RetryFeedback, feedback.Limits) (string, error)) (
	texts []string, used feedback.Limits, err error,
) {
	s := sharing{items: items, lim: lim, wording: words}
	if !s.whole() {
		s.parts()
	}
	return s.texts, s.used, s.err
}

// sharing renders items within limits.
type sharing struct {
	items   []Item
	lim     feedback.Limits
	wording func(feedback.RetryFeedback, feedback.Limits) (string, error)
	texts   []string
	used    feedback.Limits
	err     error
}

// whole renders all items in whole, and reports whether they fit.
func (s *sharing) whole() bool {
	s.texts = make([]string, len(s.items))
	for n := range s.items {
		s.render(n, s.lim)
		if len(s.items) > 1 && (s.used.MaxBytes > s.lim.MaxBytes || s.used.MaxIssues > s.lim.MaxIssues) {
			return false
		}
	}
	return true
}

// parts renders the first items within equal parts of the limits. The others get [NoRoom].
func (s *sharing) parts() {
	s.used = feedback.Limits{}
	told := max(1, min(len(s.items), s.lim.MaxIssues, s.lim.MaxBytes/fairBytes))
	part := feedback.Limits{MaxIssues: s.lim.MaxIssues / told, MaxBytes: s.lim.MaxBytes / told}
	for at, n := range s.order() {
		if at >= told {
			part = feedback.Limits{}
		}
		s.render(n, part)
	}
}

// order returns the items, the first of each tool before the others.
func (s *sharing) order() (order []int) {
	for _, again := range []bool{false, true} {
		for n := range s.items {
			if s.items[n].Again == again {
				order = append(order, n)
			}
		}
	}
	return order
}

// render renders an item within limits, and counts what it uses.
func (s *sharing) render(n int, lim feedback.Limits) {
	item := &s.items[n]
	switch {
	case item.Feedback == nil:
		s.texts[n] = Withheld
	case lim.MaxIssues <= 0 || lim.MaxBytes < leastBytes:
		s.texts[n] = NoRoom
	default:
		s.texts[n] = s.text(*item.Feedback, lim)
	}
	s.used.MaxBytes += len(s.texts[n])
	if item.Feedback != nil {
		s.used.MaxIssues += len(item.Feedback.Issues)
	}
}

// text returns feedback in the words of the user, or else in those of [feedback.Render].
func (s *sharing) text(f feedback.RetryFeedback, lim feedback.Limits) string {
	if s.wording == nil {
		return feedback.Render(f, lim)
	}
	text, err := s.wording(f, lim)
	if err == nil {
		return text
	}
	if s.err == nil {
		s.err = err
	}
	return feedback.Render(f, lim)
}
