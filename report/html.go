package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/look"
	"github.com/retake-go/retake/report/internal/told"
)

//go:embed page.html
var pageText string

//go:embed page.css
var ownCSS string

//go:embed page.js
var ownJS string

//go:embed live.js
var liveJS string

// The style sheet and the script of the page.
var pageCSS, pageJS = look.CSS + ownCSS, look.JS + ownJS

var pageTemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"visible": visible, "scaled": share[time.Duration],
	"last": func(n int, all []string) bool { return n == len(all)-1 },
	"said": func(e policy.Explained) bool { return e.Layer != policy.LayerDefault },
}).Parse(pageText))

// pageView is a whole page.
type pageView struct {
	Title  string
	CSS    template.CSS
	Script template.JS
	// Within is what the page says in a server, and LiveScript what makes it live.
	Within     Page
	LiveScript template.JS
	// Allowed is the content security policy: the page's own style sheet and script, and nothing else.
	Allowed string
	Runs    []*runView
	// Wrong says what is wrong with the journal. Notices say what was left out.
	Wrong   string
	Notices []string
	Bounds  string
	// Lines is the number of lines that were read of the journal.
	Lines int64
}

// runView is one run of a page.
type runView struct {
	Number                int
	Begun                 string
	Tone, Result, Outcome string
	// Doubt is the id of the section with the first call that is in doubt.
	Doubt string
	// Empty is set if the run is done and its answer is empty, and Told if it goes on, and the page says so
	// above.
	Empty, Told bool
	Request     []*textView
	About       [][2]string
	// Spent says what the run took, and Costs what each attempt did; empty if none is known. Price is what
	// all cost together, in a few words.
	Spent, Price string
	Costs        []costRow
	// LaterCosts and LaterPolicies are the addresses of what the page leaves out; empty if it has them.
	LaterCosts, LaterPolicies string
	// Folded says what is not seen at first.
	Folded string
	// Took is how long the run took.
	Took     string
	Chart    *chartView
	Parts    []*part
	Policies []policyView
}

// Mark returns the mark of a run in the list of turns.
func (v *runView) Mark() string {
	return map[string]string{"good": "✓", "bad": "✕", "warn": "!"}[v.Tone]
}

// HTML writes a journal as one page, which needs no other file and no network. Its size is bounded, as
// the package says. If the journal is corrupt, the page shows everything before the damage and the error is a
// [journal.CorruptError]. Other errors are those of in and w.
func (p Page) HTML(w io.Writer, in io.Reader) error {
	all := &kept{entries: p.entries(), bytes: maxPage}
	view, fault := p.read(in, all, &room{entries: maxPageEntries, texts: maxPage, lines: agentBytes})
	out := bufio.NewWriterSize(w, 64<<10)
	err := pageTemplate.ExecuteTemplate(out, "page", view)
	return errors.Join(fault, err, out.Flush())
}

// read makes the page of a journal. left is the room for what agents did.
func (p *Page) read(in io.Reader, all *kept, left *room) (*pageView, error) {
	s := &scan{in: journal.NewReader(in), nests: p.Children != nil, begin: func(r *run) {
		if prefix := agentPrefix(r.header.Session); strings.HasPrefix(p.Only, prefix) {
			p.prefix = prefix
		}
		r.kept, r.page = all, newPager(r, p)
	}}
	var runs []*run
	omitted := 0
	for r := range s.all() {
		r.page = nil
		if runs = append(runs, r); len(runs) > maxPageRuns {
			runs = append(runs[:maxPageRuns/2], runs[maxPageRuns/2+1:]...)
			omitted++
		}
	}
	view := p.view(s, all, runs, omitted)
	view.Runs = p.arrange(view.Runs, left)
	return view, s.fault()
}

// view makes the page of the runs that were read.
func (within *Page) view(s *scan, all *kept, runs []*run, omitted int) *pageView {
	p := &pageView{
		Title: "no run", CSS: template.CSS(pageCSS), Script: template.JS(pageJS), //nolint:gosec // its own
		Allowed: within.Policy(), Within: *within, Lines: s.in.Line(),
		Bounds: fmt.Sprintf("A page holds at most %d entries of %d runs, %s of texts, and %s of each.",
			within.entries(), maxPageRuns, sizeText(maxPage), sizeText(maxPageText)),
	}
	if within.Live != "" {
		p.LiveScript = template.JS(liveJS) //nolint:gosec // its own
	}
	if err := s.fault(); err != nil {
		p.Wrong = within.scrub(err.Error())
	}
	for _, n := range []struct {
		n         int
		what, why string
	}{
		{all.omitted, "entry", "between the first and the last"},
		{all.stripped, "entry", "without texts: the page is full"},
		{omitted, "run", "between the first and the last"},
	} {
		if n.n > 0 {
			p.Notices = append(p.Notices, several.Of(n.n, n.what)+" left out "+n.why)
		}
	}
	if len(runs) == 0 && s.in.TornBytes() > 0 {
		p.Notices = append(p.Notices, tornText(s.in.TornBytes()))
	}
	byRun := map[int][]*entry{}
	for e := range all.all() {
		e.scrub(within)
		byRun[e.Run] = append(byRun[e.Run], e)
		within.children(e)
	}
	for _, r := range runs {
		p.Title = r.header.Session
		v := r.view(byRun[r.number], within)
		v.Outcome = within.scrub(v.Outcome)
		v.Told = within.State != "" && r == runs[len(runs)-1] && r.underWay() != ""
		p.Runs = append(p.Runs, v)
	}
	return p
}

// stateTones are the tones of states.
var stateTones = map[string]string{"asks": "warn", "failed": "bad", "done": "good", "waiting": "wait"}

// StateTone returns the tone of the session's state.
func (p *pageView) StateTone() string { return stateTones[p.Within.State] }

// Ago returns how long ago the latest event was, in at most two units; empty if that is not said.
func (p *pageView) Ago() string {
	if p.Within.Last.IsZero() || p.Within.Now.IsZero() {
		return ""
	}
	return several.Rough(p.Within.Now.Sub(p.Within.Last))
}

// Clock returns the time as of which the page is shown.
func (p *pageView) Clock() string {
	if p.Within.Now.IsZero() {
		return "now"
	}
	return p.Within.Now.UTC().Format("15:04:05 UTC")
}

// LastMS and NowMS are times for the script.
func (p *pageView) LastMS() int64 { return p.Within.Last.UnixMilli() }
func (p *pageView) NowMS() int64  { return p.Within.Now.UnixMilli() }

// Turns returns the number of turns of all runs.
func (p *pageView) Turns() (n int) {
	for _, r := range p.Runs {
		for _, part := range r.Parts {
			n += len(part.Sections)
		}
	}
	return n
}

// sourceHash names a style sheet or script in a content security policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policyView is a policy as the run began.
type policyView struct {
	Title string
	Rows  policy.Explanation
}

// view makes a run's part of the page.
func (r *run) view(entries []*entry, within *Page) *runView {
	v := &runView{
		Number: r.number, About: r.about(), Spent: r.totals.String(),
		Tone: "warn", Result: "unfinished", Outcome: r.underWay(),
	}
	for _, of := range r.header.Policies() {
		v.Policies = append(v.Policies, policyView{of.String(), r.header.Config.Policy.Explain(of)})
	}
	if !r.begun.IsZero() {
		v.Begun = r.begun.UTC().Format(time.RFC3339)
	}
	if o := r.outcome; o != nil && v.Outcome == "" {
		if v.Tone, v.Result = "bad", "stopped"; o.OK {
			v.Tone, v.Result = "good", "done"
			if marred := marredText(o); marred != "" {
				v.Tone, v.Result = "warn", "done, "+told.Brief(marred, maxText)
			}
		}
		v.Outcome = told.Brief(told.Outcome(o), maxText)
		v.Empty = o.OK && v.Outcome == ""
	}
	sections := r.sections(entries, within.prefix)
	for _, s := range sections {
		s.name()
		if within.Raw != "" && s.Call != nil {
			s.Line, s.Raw = s.Call.Line, within.Raw+strconv.FormatInt(s.Call.Line, 10)
		}
		s.Spent = joined(", ", lostText(r.spent(s.charge((*entry).failed))), s.took())
		if v.Doubt == "" && r.outcome != nil && s.doubts(r.outcome.InDoubt) {
			v.Doubt = s.ID
		}
	}
	if len(entries) > 0 && entries[0].Kind == started {
		v.Request = entries[0].Shown().Texts
	}
	v.Parts, v.Took, v.Chart = partsOf(sections), short(r.time()), chartOf(sections, r.gaps)
	for _, p := range v.Parts {
		p.Price = r.spent(charge(p.Sections...))
	}
	v.Costs, v.Price = r.costs(sections), r.spent(policy.Charge{Usage: r.totals.Usage, Cost: r.totals.Cost})
	v.Folded = foldedText(sections, len(v.Policies))
	return v
}

// foldedText says how much is not seen at first; empty if nothing is.
func foldedText(sections []*section, policies int) string {
	turns, prompts := 0, 0
	for _, s := range sections {
		if !s.Failed {
			turns++
		}
		if d := s.Call.Shown(); d.System != nil || len(d.Said) > 0 {
			prompts++
		}
	}
	return after("Folded: ",
		joined(", ", counted(turns, "turn"), counted(prompts, "prompt"), counted(policies, "policy")))
}
