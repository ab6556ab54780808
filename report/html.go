package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/retake-go/retake/journal"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("").Parse(pageText))

// pageView is a whole page.
type pageView struct {
	Title string
	CSS   template.CSS
	// Allowed is the content security policy: this page's own style sheet, and nothing else.
	Allowed string
	Runs    []*runView
	// Wrong says what is wrong with the journal, Notices what was left out.
	Wrong   string
	Notices []string
	Bounds  string
}

// runView is one run of a page.
type runView struct {
	Number                int
	Session, Begun        string
	Tone, Result, Outcome string
	About                 [][2]string
	Totals                [][2]string
	Attempts              []attemptRow
	Chart                 *chartView
	Sections              []*sectionView
	Policies              []policyView
}

// attemptRow is one line of a run's table of attempts.
type attemptRow struct {
	At, Word, Tone, Text, Verdict, Left, Link string
	Wait                                      int
	Delay                                     string
}

// HTML writes one page that shows the journal that in holds: it needs nothing but itself, and may be opened
// from a file. Bounds are [MaxPage] and its neighbours. Where the journal is corrupt the page has all that is
// before it, and the error is a [journal.CorruptError]; else it is that of in or w.
func HTML(w io.Writer, in io.Reader) error {
	sink := &kept{bounds: bounds{entries: MaxPageEntries, bytes: MaxPage}}
	s := &scan{in: journal.NewReader(in), sink: sink}
	var runs []*run
	left := 0
	for {
		r, err := s.next()
		if err != nil {
			break
		}
		if runs = append(runs, r); len(runs) > MaxPageRuns {
			runs = append(runs[:MaxPageRuns/2], runs[MaxPageRuns/2+1:]...)
			left++
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	err := pageTemplate.ExecuteTemplate(out, "page", pageOf(s, runs, left))
	return errors.Join(whole(s.err), err, out.Flush())
}

// pageOf makes the page of the runs that were read.
func pageOf(s *scan, runs []*run, left int) *pageView {
	sum := sha256.Sum256([]byte(pageCSS))
	p := &pageView{
		Title: "no run", CSS: template.CSS(pageCSS), //nolint:gosec // it is this package's own
		Allowed: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
			"base-uri 'none'; form-action 'none'",
		Bounds: fmt.Sprintf("A page holds at most %d entries of %d runs, %s of texts, and %s of each.",
			MaxPageEntries, MaxPageRuns, sizeText(MaxPage), sizeText(MaxText)),
	}
	if err := whole(s.err); err != nil {
		p.Wrong = visible(err.Error())
	}
	p.notice(s.sink.omitted, "entry", "between the first and the last")
	p.notice(s.sink.stripped, "entry", "without texts: the page is full")
	p.notice(left, "run", "between the first and the last")
	if len(runs) == 0 && len(s.in.Torn()) > 0 {
		p.Notices = append(p.Notices, tornText(int(s.in.TornBytes())))
	}
	byRun := map[int][]entry{}
	for _, part := range s.sink.all() {
		for _, e := range part {
			byRun[e.Run] = append(byRun[e.Run], e)
		}
	}
	for _, r := range runs {
		p.Title = visible(r.header.Session)
		p.Runs = append(p.Runs, r.view(byRun[r.number]))
	}
	return p
}

func (p *pageView) notice(n int, what, why string) {
	if n > 0 {
		p.Notices = append(p.Notices, many(n, what)+" left out "+why)
	}
}

// view makes a run's part of the page.
func (r *run) view(entries []entry) *runView {
	v := &runView{
		Number: r.number, Session: visible(r.header.Session), About: r.about(),
		Tone: "warn", Result: "unfinished", Outcome: r.underWay(),
	}
	if !r.begun.IsZero() {
		v.Begun = r.begun.UTC().Format(time.RFC3339)
	}
	if o := r.outcome; o != nil && v.Outcome == "" {
		v.Tone, v.Result = "bad", "stopped"
		if o.OK {
			v.Tone, v.Result = "good", "done"
		}
		text := strings.TrimPrefix(strings.TrimPrefix(o.String(), "stop: "), "done: ")
		v.Outcome = clip(line(text), maxText)
	}
	v.Totals = r.totals.rows()
	t := &teller{
		run: v, set: r.header.Config, longest: r.longest,
		was: map[string][]string{}, policies: map[string]string{},
	}
	var bars tracer
	for n := range entries {
		e := &entries[n]
		t.tell(e)
		link := ""
		if t.section != nil {
			link = t.section.ID
		}
		bars.see(e, link)
		t.row(e, link)
	}
	v.Chart = bars.chart()
	return v
}

// row adds an attempt to the run's table.
func (t *teller) row(e *entry, link string) {
	if e.Kind != attempted {
		return
	}
	w := wordOf(e)
	row := attemptRow{
		At: since(e.At), Word: w[0], Tone: toneOf(e), Text: e.Text, Link: link,
		Verdict: cmp.Or(verdictText(e.Decision), e.Decision.Reason.Phrase()),
	}
	if e.Decision.Retry && e.Decision.Delay > 0 {
		row.Wait, row.Delay = share(e.Decision.Delay, t.longest, 1000), short(e.Decision.Delay)
	}
	if e.Left != nil {
		row.Left = strings.TrimPrefix(e.Left.String(), "left: ")
	}
	t.run.Attempts = append(t.run.Attempts, row)
}

// rows are the totals of a run, by name.
func (t *totals) rows() [][2]string {
	rows := [][2]string{}
	for _, c := range t.counted() {
		_, name, _ := strings.Cut(many(0, c.what), " ")
		rows = append(rows, [2]string{name, fmt.Sprint(c.n)})
	}
	if t.Waited > 0 {
		rows = append(rows, [2]string{"waited", short(t.Waited)})
	}
	u := t.Usage
	for _, c := range []struct {
		n    int64
		what string
	}{
		{u.InputTokens, "tokens in"}, {u.OutputTokens, "tokens out"}, {u.ReasoningTokens, "thinking"},
		{u.CacheReadTokens, "from cache"}, {u.CacheWriteTokens, "to cache"},
	} {
		if c.n > 0 {
			rows = append(rows, [2]string{c.what, fmt.Sprint(c.n)})
		}
	}
	return rows
}
