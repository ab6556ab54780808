package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/policy"
)

// layout puts the entries of one run into columns: the time, a word, and what there is to say.
type layout struct {
	t       *terminal
	times   int
	longest time.Duration
}

// word is the width of the column of words.
const word = 8

func (t *terminal) layout(r *run) *layout {
	l := &layout{t: t, longest: r.longest}
	for _, part := range r.kept.all() {
		for _, e := range part {
			l.times = max(l.times, columnsOf(since(e.At)))
		}
	}
	return l
}

// words are what stands before an entry, and its colour.
var words = map[kind][2]string{
	started: {"start", "2"}, called: {"call", "1"}, trying: {"try", "1"}, replied: {"reply", ""},
	running: {"run", ""}, ended: {"tool", ""}, waiting: {"wait", "36"},
	consulted: {"planner", "35"}, planned: {"plan", "35"}, adjusted: {"policy", "35"},
	reduced: {"event", ""}, cancelled: {"cancel", "31"}, noted: {"note", "2"},
}

// wordOf is an entry's word and colour.
func wordOf(e *entry) [2]string {
	switch d := e.Decision; {
	case e.Kind == stopped && e.good:
		return [2]string{"done", "32"}
	case e.Kind == stopped:
		return [2]string{"stop", "31"}
	case e.bad:
		return [2]string{words[e.Kind][0], "31"}
	case d == nil:
		return words[e.Kind]
	case d.Class == "" && d.Reason == policy.Accepted:
		return [2]string{"accept", "32"}
	case d.Class == "":
		return [2]string{"close", "33"}
	case d.Retry:
		return [2]string{"retry", "33"}
	}
	return [2]string{"fail", "31"}
}

// entry writes one entry.
func (l *layout) entry(e *entry) {
	w := wordOf(e)
	text := e.Text
	if e.Kind == waiting {
		column := max(l.waitColumn(), columnsOf(text)) + 1
		text += strings.Repeat(" ", column-columnsOf(text))
		text += l.t.paint("36", bar(e.Wait, l.longest, l.room()-column))
		l.raw(since(e.At), w[0], w[1], text)
		return
	}
	if e.Kind != attempted || e.Left == nil {
		text += e.usage()
	}
	l.row(since(e.At), w[0], w[1], text)
	for _, more := range e.More {
		l.more("", more)
	}
	if e.Left != nil {
		l.more("2", e.Left.String()+e.usage())
	}
}

// room is how many columns there are for what there is to say.
func (l *layout) room() int { return max(20, l.t.width-l.times-word-4) }

// waitColumn is where bars begin.
func (l *layout) waitColumn() int { return min(22, l.room()/2) }

// row writes a line and what follows of it.
func (l *layout) row(at, word, code, text string) {
	lines := wrap(text, l.room())
	if len(lines) == 0 {
		lines = []string{""}
	}
	l.raw(at, word, code, lines[0])
	for _, rest := range lines[1:] {
		l.more("", rest)
	}
}

func (l *layout) raw(at, name, code, text string) {
	time := l.t.paint("2", fmt.Sprintf("%*s", l.times, at))
	what := l.t.paint(code, fmt.Sprintf("%-*s", word, name))
	fmt.Fprintln(l.t.out, strings.TrimRight(time+"  "+what+"  "+text, " "))
}

// more writes lines under the text of an entry.
func (l *layout) more(code, text string) {
	for _, part := range wrap(text, l.room()) {
		fmt.Fprintf(l.t.out, "%s%s\n", strings.Repeat(" ", l.times+word+4), l.t.paint(code, part))
	}
}

// maxBar is the length of the longest bar, in columns.
const maxBar = 40

// bar is a bar for d where the longest is as long as there is room; whatever is waited at all shows.
func bar(d, longest time.Duration, room int) string {
	if d <= 0 || longest <= 0 || room < 1 {
		return ""
	}
	full := min(maxBar, room)
	return strings.Repeat("█", max(1, share(d, longest, full)))
}
