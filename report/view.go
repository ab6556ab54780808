package report

import (
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/report/internal/told"
)

// textView is a text on a page. Same says how much is left out because it was shown before.
type textView struct {
	Label, Same string

	// text is looked through for secrets when it is shown, and scrubbed is what is left then.
	text, scrubbed string
	issues         []fault.Issue
	within         *Page
}

// shown returns the text without secrets. Looking for them takes seconds for megabytes that somebody made for
// it, so only what is shown is looked through, and once.
func (t *textView) shown() string {
	if t.scrubbed == "" {
		t.scrubbed = t.within.scrub(t.text)
	}
	return t.scrubbed
}

// isWhole reports whether there is a text, and nothing of it is left out for its length.
func (t *textView) isWhole() bool { return t != nil && len(t.text) <= maxPageText }

// Parts returns those of the text without secrets.
func (t *textView) Parts() []segment {
	if t.text == "" {
		return nil
	}
	text := t.shown()
	return segments(text, marksOf(text, t.issues))
}

// leastShared is how many bytes two texts must share before those are left out of the second.
const leastShared = 200

// news returns the lines of a text that differ from the text before, and how many bytes around them are the
// same. If fewer than leastShared are, it returns the whole text and 0. The part is only empty if both texts
// are the same: where lines were removed, it is a line beside them.
func news(was, is string) (part string, same int) {
	if was == is && len(is) >= leastShared {
		return "", len(is)
	}
	old, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	for len(old) > 0 && len(now) > 1 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 1 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	part = strings.Join(now, "\n")
	if same = len(is) - len(part); same < leastShared {
		return is, 0
	}
	return part, same
}

// issueView is an issue on a page. Brief is the issue in a few words, for titles.
type issueView struct {
	N                        int
	Place, Says, Rule, Brief string

	rule string
}

// issues lists issues.
func (p *pager) issues(all []fault.Issue) (views []issueView) {
	scrub := p.within.scrub
	for n, i := range all[:min(len(all), maxMarks)] {
		views = append(views, issueView{
			N: n + 1, Place: scrub(i.Place()), Says: scrub(i.Says()),
			Rule: joined(", ", i.Rule, string(i.Source)), Brief: scrub(told.Issue(i)), rule: i.Rule,
		})
	}
	return views
}
