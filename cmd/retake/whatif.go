package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

var whatifCommand = command{
	name:    "whatif",
	summary: "shows what recorded runs would have cost under another policy",
	example: "retake whatif -policy policy.yaml runs/",
	usage: []string{
		"whatif [-policy FILE|preset:NAME] [-feedback FILE] [-tools FILE] [-price LIST] [-model NAME] " +
			"[-since TIME] [-until TIME] [-key FILE] [-json] JOURNAL...",
	},
	about: `
Plays each recorded run again under another policy, with another feedback template, or with its replies read
against other tools. The outcomes of models, tools and planners are taken from the record, in its order. Waits
are computed anew. A model is assumed to reply the same to feedback in other words. If a run would make a call
that was never made, the record has no answer: the command says so, and counts nothing beyond that point.

It compares totals up to that point: attempts, transport faults, calls, time waited, tokens, those of failed
attempts, and their cost: at the prices of the policies, or with -price at those, for a million tokens, as
in -price input=3,output=15,cache_read=0.3, where the sum is rounded up, and not each call. The last line
says what would have been saved, and how many runs that went well would not have. Of several journals those in which
nothing would differ are not shown, and those of agents are left out: what an agent used counts in the run
around it. Alone it is played.
` + journalArgs + `. ` + duringAbout + `

JSON, one line for each journal: {"journal", "outlook", "change", "cost", "error"}, and a last line
{"journals", "runs", "as_recorded", "otherwise", "unanswered", "lost", "won", "sum", "change", "cost"}.`,
	task: newTask[whatif],
}

type whatif struct {
	jsonAnswer
	dated
	keyed
	prices
	Policy   string `flag:"policy FILE" help:"the other policy: a YAML or JSON FILE, or preset:NAME"`
	Feedback string `flag:"feedback FILE" help:"another feedback template: FILE"`
	Tools    string `flag:"tools FILE" help:"read replies again against the tools of FILE"`
}

// question returns what is asked of each journal.
func (w *whatif) question() (journal.WhatIf, error) {
	q := journal.WhatIf{Model: w.Model}
	if w.Policy == "" && w.Feedback == "" && w.Tools == "" {
		return q, misused("nothing would be different: give -policy, -feedback or -tools")
	}
	if w.Policy != "" {
		from, err := readPolicy("-policy", w.Policy)
		if err != nil {
			return q, err
		}
		q.Policy = &from.set
	}
	if w.Feedback != "" {
		text, err := readPlaced("-feedback", w.Feedback)
		if err != nil {
			return q, err
		}
		q.Feedback = new(string(text))
	}
	if w.Tools != "" {
		set, err := readTools("-tools", w.Tools)
		if err != nil {
			return q, err
		}
		q.Reread = reread(set)
	}
	err := q.Validate()
	if err != nil && w.Feedback != "" { // a policy was checked when it was read
		err = fmt.Errorf("%s: %w", w.Feedback, err)
	}
	return q, err
}

// reread reads replies against other tools. An answer is not read again: its schema is not known here.
func reread(set *tool.Set) func(*journal.Header, *policy.Set, *machine.Reply) *machine.Reply {
	return func(h *journal.Header, p *policy.Set, was *machine.Reply) *machine.Reply {
		offer := engine.Offer{Tools: set, CallsOnly: h.Config.CallsOnly}
		now := engine.Read(was.Message, offer, was.ToolChoice, engine.Settings(p))
		if now.Answer != nil && was.Answer != nil {
			return was
		}
		return now
	}
}

// whatifResult is what came of one journal.
type whatifResult struct {
	Journal string           `json:"journal"`
	Outlook *journal.Outlook `json:"outlook,omitempty"`
	Change  *journal.Totals  `json:"change,omitempty"`
	Cost    *costs           `json:"cost,omitempty"`
	Error   string           `json:"error,omitempty"`

	place place
	err   error
}

// costs are what the tokens cost.
type costs struct {
	Recorded float64 `json:"recorded"`
	Answered float64 `json:"answered"`
	WhatIf   float64 `json:"what_if"`
}

func (w *whatif) costs(c journal.Comparison) *costs {
	if !w.Price.given {
		return nil
	}
	of := func(t journal.Totals) float64 { return inMoney(w.costOf(t)) }
	return &costs{of(c.Recorded), of(c.Answered), of(c.WhatIf)}
}

// costOf returns what the tokens cost, at the prices of the flag or those of the policies.
func (w *whatif) costOf(t journal.Totals) int64 { return w.cost(t.Usage, t.Cost) }

// inMoney returns a cost in units of money.
func inMoney(cost int64) float64 { return float64(cost) / 1e6 }

// summed is the last line of the answer.
type summed struct {
	Journals int `json:"journals"`
	// Runs is the sum of those that would have ended as recorded, those that would have ended otherwise,
	// and those that the record does not answer.
	Runs       int `json:"runs"`
	AsRecorded int `json:"as_recorded"`
	Otherwise  int `json:"otherwise"`
	Unanswered int `json:"unanswered"`
	// Lost are runs that went well and would not have, Won those that would have and did not.
	Lost   int                `json:"lost"`
	Won    int                `json:"won"`
	Sum    journal.Comparison `json:"sum"`
	Change journal.Totals     `json:"change"`
	Cost   *costs             `json:"cost,omitempty"`
}

func (s *summed) add(o *journal.Outlook) {
	s.Journals++
	s.Sum = s.Sum.Plus(o.Comparison)
	for _, r := range o.Runs {
		s.Runs++
		if r.Silent == nil && r.RecordedOK != r.OK {
			if r.OK {
				s.Won++
			} else {
				s.Lost++
			}
		}
		switch {
		case r.Silent != nil:
			s.Unanswered++
		case r.SameEnd:
			s.AsRecorded++
		default:
			s.Otherwise++
		}
	}
}

func (w *whatif) run(e *env) error {
	q, err := w.question()
	if err != nil {
		return err
	}
	w.places = e.outermost(w.places)
	var bad []place
	var sum summed
	ask := func(in io.Reader, key []byte) (journal.Outlook, error) {
		asked := q
		asked.Key = key
		return asked.Run(in)
	}
	err = each(e, w.places, w.Key, ask, func(p place, o journal.Outlook, err error) error {
		one := whatifResult{Journal: p.String(), place: p, err: err}
		if err != nil {
			bad = append(bad, p)
			one.Error = err.Error()
		} else {
			sum.add(&o)
			one.Outlook, one.Change, one.Cost = &o, new(o.Change()), w.costs(o.Comparison)
		}
		if w.JSON {
			return e.json(one)
		}
		if len(w.places) == 1 || one.differs() {
			w.write(e, one)
		}
		return nil
	})
	if err == nil {
		sum.Change, sum.Cost = sum.Sum.Change(), w.costs(sum.Sum)
		err = w.writeSum(e, sum)
	}
	return errors.Join(err, unreadable(bad, len(w.places)))
}

// differs reports whether there is something to tell of a journal among others.
func (r *whatifResult) differs() bool {
	return r.err != nil || len(r.Outlook.Warnings) > 0 || *r.Change != journal.Totals{} ||
		slices.ContainsFunc(r.Outlook.Runs, func(run journal.RunOutlook) bool {
			return run.Silent != nil || run.First != nil || !run.SameEnd || len(run.Warnings) > 0
		})
}

// write writes the answer for one journal.
func (w *whatif) write(e *env, one whatifResult) {
	e.println(e.bold(title(one.place)))
	if one.err != nil {
		e.println(plainLines(indent(one.Error)))
		return
	}
	for n, r := range one.Outlook.Runs {
		if len(one.Outlook.Runs) > 1 {
			e.printf("  run %d\n", n+1)
		}
		say := func(what, text string) { e.printf("  %-8s  %s\n", what, plain(text)) }
		say("recorded", cmp.Or(r.RecordedEnd, "not ended"))
		end := r.End
		if r.Silent != nil {
			end = r.Silent.String()
		}
		say("what if", end)
		if f := r.First; f != nil {
			was := cmp.Or(strings.Join(f.Was, "; "), "no decision")
			now := cmp.Or(strings.Join(f.Now, "; "), "no decision")
			say("first", fmt.Sprintf("line %d: %s -> %s", f.Line, was, now))
		}
		for _, text := range r.Warnings {
			say("note", text)
		}
	}
	for _, text := range one.Outlook.Warnings {
		e.printf("  note      %s\n", plain(text))
	}
	if len(w.places) == 1 {
		w.table(e, one.Outlook.Comparison)
	}
	e.println()
}

func (w *whatif) writeSum(e *env, s summed) error {
	if w.JSON {
		return e.json(s)
	}
	if len(w.places) > 1 {
		what := several.Of(s.Journals, "journal") + ", " + several.Of(s.Runs, "run")
		e.printf("%s: %d as recorded, %d otherwise, %d that the record does not answer\n",
			e.bold(what), s.AsRecorded, s.Otherwise, s.Unanswered)
		w.table(e, s.Sum)
	}
	if s.Runs > 0 {
		e.println(s.verdict())
	}
	return nil
}

// verdict says in one sentence what would have been saved and lost, as far as the record answers.
func (s *summed) verdict() string {
	used, change := s.Sum.Answered.Usage.Total(), s.Sum.Change().Usage.Total()
	text := "this would have used as many tokens"
	switch {
	case change < 0:
		text = "this would have saved " + percent(-change, used) + " of the tokens"
	case change > 0:
		text = "this would have used " + percent(change, used) + " more tokens"
	}
	if known := s.Runs - s.Unanswered; known > 0 {
		text += fmt.Sprintf(" and lost %d of %s", s.Lost, several.Of(known, "run"))
	}
	if s.Won > 0 {
		text += fmt.Sprintf(", and won %d", s.Won)
	}
	if s.Unanswered == 0 {
		return text
	}
	return "as far as the record answers, " + text + "; it does not say how " +
		several.Of(s.Unanswered, "run") + " would have ended"
}

// percent returns a share in percent, with one decimal below 10.
func percent(part, of int64) string {
	if of <= 0 {
		return "100 %"
	}
	share := 100 * float64(part) / float64(of)
	if share < 10 {
		return fmt.Sprintf("%.1f %%", share)
	}
	return fmt.Sprintf("%.0f %%", share)
}

// free reports whether tokens cost nothing.
func free(t journal.Totals) bool { return t.Usage.Total() > 0 && t.Cost == 0 }

// table compares the totals.
func (w *whatif) table(e *env, c journal.Comparison) {
	cells := func(name, recorded, answered, whatif, change string) {
		e.printf("  %-20s %12s %12s %12s %12s\n", name, recorded, answered, whatif, change)
	}
	row := func(name string, show func(int64) string, of func(journal.Totals) int64) {
		change := show(of(c.WhatIf) - of(c.Answered))
		if !strings.HasPrefix(change, "-") && change != "0s" {
			change = "+" + change
		}
		cells(name, show(of(c.Recorded)), show(of(c.Answered)), show(of(c.WhatIf)), change)
	}
	count := func(n int64) string { return fmt.Sprint(n) }
	waited := func(n int64) string { return time.Duration(n).Round(time.Millisecond).String() }
	money := func(n int64) string { return fmt.Sprintf("%.6f", inMoney(n)) }
	cells("", "recorded", "up to there", "what if", "change")
	row("correction attempts", count, func(t journal.Totals) int64 { return int64(t.Correction) })
	row("transport faults", count, func(t journal.Totals) int64 { return int64(t.Transport) })
	row("model calls", count, func(t journal.Totals) int64 { return int64(t.ModelCalls) })
	row("tool runs", count, func(t journal.Totals) int64 { return int64(t.ToolRuns) })
	row("waited", waited, func(t journal.Totals) int64 { return int64(t.Waited) })
	row("tokens in", count, func(t journal.Totals) int64 { return t.Usage.InputTokens })
	row("tokens out", count, func(t journal.Totals) int64 { return t.Usage.OutputTokens })
	row("tokens wasted", count, func(t journal.Totals) int64 { return t.Wasted.Usage.Total() })
	if !w.Price.given && c.Recorded.Cost+c.WhatIf.Cost == 0 {
		return
	}
	if !w.Price.given && free(c.Answered) != free(c.WhatIf) {
		e.println("  cost: not compared, because one of the policies has no prices; give them by -price")
		return
	}
	row("cost", money, w.costOf)
	row("cost wasted", money, func(t journal.Totals) int64 { return w.cost(t.Wasted.Usage, t.Wasted.Cost) })
}
