package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/corpus"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

var tuneCommand = command{
	name:    "tune",
	summary: "ranks policies on recorded runs, by success, cost and time",
	example: "retake tune -policies policies/ -corpus runs/",
	usage: []string{
		"tune -policies DIR -corpus FILE|JOURNALS [-since TIME] [-until TIME] [-price LIST] [-model NAME]\n" +
			"              [-key FILE] [-html] [-json]",
	},
	about: `
Plays recorded runs under each policy of DIR: its files *.yaml, *.yml and *.json, which are called by their
names. FILE is a corpus, as "retake check -h" describes it, whose questions are played as by "retake play".
JOURNALS is a journal, a directory of journals, or a SQLite database, whose runs are played as by "retake
whatif". Each question and each run counts as one of the sessions, because each goes well or not by itself.

Where the record stops to answer, or a question has no further reply, what was used up to that point counts,
and nobody knows how the session would have ended. A policy with such sessions is not ranked: it is marked
with "?" and stands below the others, and its successes are the fewest and the most that there can be.

A policy is dominated if another is at least as good in successes, cost and time waited, and better in one.
The others are marked with "*": each of them is the best for someone. Cost is that at the prices of the
policies, or with -price at those (see "retake whatif -h"), and "-" where nothing has a price; unless all have
prices, the tokens count. A corpus has no usage, so its tokens are estimated from its texts. -model names the
model for the prices of the policies: that of a corpus, or of journals whose runs had no prices and budgets.

The last row is what was recorded in journals. It is not ranked. ` + duringAbout + `

With -html it writes one page with the table and a picture to standard output, which needs no network.

JSON: {"policies": [{"name", "sessions", "succeeded", "calls", "tokens", "cost_micros", "wait_ms",
"dominated"}, ...], "recorded"}, best first, and last those with "unanswered": the number of sessions of
which the end is not known.`,
	task: newTask[tune],
}

type tune struct {
	jsonAnswer
	prices
	unsealing
	during
	keyed
	Policies string `flag:"policies DIR" help:"the policies: DIR of YAML and JSON files"`
	Corpus   string `flag:"corpus FILE" help:"the recorded runs: a corpus FILE, or journals"`
	HTML     bool   `flag:"html" help:"write a page of HTML"`
	places   []place
	// recorded is what came of the runs of journals; nil for a corpus.
	recorded *candidate
}

// candidate is a policy, and what came of the runs under it.
type candidate struct {
	Name string `json:"name"`
	// Sessions is the number of questions or runs that were played.
	Sessions   int   `json:"sessions"`
	Succeeded  int   `json:"succeeded"`
	Calls      int   `json:"calls"`
	Tokens     int64 `json:"tokens"`
	CostMicros int64 `json:"cost_micros"`
	WaitMS     int64 `json:"wait_ms"`
	Dominated  bool  `json:"dominated"`
	// Unanswered counts sessions whose record stopped to answer: each may have succeeded or not.
	Unanswered int `json:"unanswered,omitempty"`

	set policy.Set
	// warned counts sessions with warnings that the record does not have, and warning is the first.
	warned  int
	warning string
}

func (t *tune) run(e *env) error {
	if t.HTML && t.JSON {
		return misused("-html and -json cannot stand together: give one of them")
	}
	all, err := t.candidates()
	if err != nil {
		return err
	}
	if t.Corpus == "" || t.Corpus == standardInput {
		return misused("-corpus is missing: give a corpus file, or journals")
	}
	t.places, err = places(t.Corpus, "give a corpus, or journals", journalsIn)
	if err != nil {
		return err
	}
	var bad []place
	text, found, err := t.questions(e)
	switch {
	case err != nil:
	case found && t.bounded():
		err = misused("-since and -until are for journals: a corpus says nothing of time")
	case found:
		err = t.play(e, text, all)
	default:
		bad, err = t.ask(e, all)
	}
	if err != nil {
		return err
	}
	rank(all)
	noteUnpriced(e, all)
	noteUnanswered(e, all)
	switch {
	case t.JSON:
		answer := map[string]any{"policies": all}
		if t.recorded != nil {
			answer["recorded"] = t.recorded
		}
		err = e.json(answer)
	case t.HTML:
		err = writeTunePage(e.out, t.Corpus, all)
	default:
		writeRanks(e, all, t.recorded)
	}
	return errors.Join(err, unreadable(bad, len(t.places)))
}

// candidates reads the policies.
func (t *tune) candidates() (all []*candidate, err error) {
	if t.Policies == "" {
		return nil, misused("-policies is missing: give a directory of policies")
	}
	entries, err := os.ReadDir(t.Policies)
	if err != nil {
		return nil, misused("-policies: %w: give a directory of policies", err)
	}
	var bad error
	names := map[string]string{}
	for _, entry := range entries {
		ext := filepath.Ext(entry.Name())
		path := filepath.Join(t.Policies, entry.Name())
		if !mayBeRead(path) || !slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			continue
		}
		name := strings.TrimSuffix(entry.Name(), ext)
		if first := names[name]; first != "" {
			return nil, misused("-policies: %s and %s have one name: rename one of them", first, entry.Name())
		}
		names[name] = entry.Name()
		data, err := readPlaced("-policies", path)
		if err != nil {
			return nil, err
		}
		set, err := file.Read(path, data)
		bad = errors.Join(bad, err)
		all = append(all, &candidate{Name: name, set: set})
	}
	if len(all) == 0 {
		return nil, misused("-policies: there is no policy in %s: "+
			"give a directory of files *.yaml, *.yml or *.json", t.Policies)
	}
	return all, bad
}

// questions returns the text of a corpus, if that is what was named.
func (t *tune) questions(e *env) (text []byte, found bool, err error) {
	asked := t.places
	if len(asked) != 1 || asked[0].session != "" || isDatabase(t.Corpus) {
		return nil, false, nil
	}
	f, err := e.open(asked[0])
	if err != nil {
		return nil, false, err
	}
	in, isJournal := findJournal(f)
	switch {
	case !isJournal:
		text, err = readText(asked[0], in)
	case asked[0].once(): // it is read on from here
		e.in, t.places = in, []place{{path: standardInput}}
		return nil, false, nil
	}
	return text, !isJournal, errors.Join(err, f.Close())
}

// play plays the questions of a corpus.
func (t *tune) play(e *env, text []byte, all []*candidate) error {
	for _, c := range all {
		if _, priced := c.set.Prices.Of(t.Model); c.set.Spending.Costs() && !priced {
			return misused("-model: the policy %s bounds money, and has no price for %q: "+
				"name the model of the corpus", c.Name, t.Model)
		}
	}
	for q, err := range corpus.Read(t.Corpus, strings.NewReader(string(text))) {
		if err != nil {
			return err
		}
		for _, c := range all {
			cfg := corpus.Config{Policy: &c.set, Model: t.Model, Estimate: true}
			run, err := cfg.Play(context.Background(), q)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			st := &run.State
			c.add(st.Turn, run.Attempt > 0, t.cost(st.Usage, st.Charged.Cost), st.Usage, st.Waited)
			c.warn(st.Warnings)
			if st.Outcome == nil {
				c.Unanswered++
			}
		}
	}
	return nil
}

// ask asks the runs of journals what they would have come to. It returns those that cannot be read.
func (t *tune) ask(e *env, all []*candidate) (bad []place, err error) {
	if t.places, err = t.of(e, t.places); err != nil {
		return nil, err
	}
	t.places, t.recorded = e.outermost(t.places), &candidate{Name: "(as recorded)"}
	work := func(in io.Reader, key []byte) ([]journal.Outlook, error) {
		var asked []journal.WhatIf
		for _, c := range all {
			asked = append(asked, journal.WhatIf{Policy: &c.set, Model: t.Model, Key: key})
		}
		return journal.WhatIfs(in, asked...)
	}
	err = each(e, t.places, t.Key, work, func(p place, outlooks []journal.Outlook, err error) error {
		if err != nil {
			e.note("%s: %v", p, err)
			bad = append(bad, p)
			return nil
		}
		for n := range outlooks {
			t.count(all[n], &outlooks[n])
		}
		for _, r := range outlooks[0].Runs {
			t.add(t.recorded, &r.Recorded, r.RecordedOK)
		}
		return nil
	})
	return bad, err
}

// count counts the runs of a journal as sessions of a policy.
func (t *tune) count(c *candidate, o *journal.Outlook) {
	for _, r := range o.Runs {
		t.add(c, &r.WhatIf, r.OK)
		c.warn(r.Warnings)
		if r.Silent != nil {
			c.Unanswered++
		}
	}
}

// add counts a run.
func (t *tune) add(c *candidate, w *journal.Totals, ok bool) {
	c.add(w.ModelCalls, ok, t.cost(w.Usage, w.Cost), w.Usage, w.Waited)
}

// add counts a session.
func (c *candidate) add(calls int, ok bool, cost int64, used message.Usage, waited time.Duration) {
	c.Sessions++
	c.Calls, c.Tokens, c.CostMicros = c.Calls+calls, c.Tokens+used.Total(), c.CostMicros+cost
	c.WaitMS += waited.Milliseconds()
	if ok {
		c.Succeeded++
	}
}

// warn counts a session with warnings.
func (c *candidate) warn(texts []string) {
	if len(texts) > 0 {
		c.warned, c.warning = c.warned+1, cmp.Or(c.warning, texts[0])
	}
}

// price returns what decides of two policies: money, or tokens if nothing has a price.
func (c *candidate) price(priced bool) int64 {
	if priced {
		return c.CostMicros
	}
	return c.Tokens
}

// unpriced returns the first policy whose tokens cost nothing, because it has no price for them; nil if there
// is none.
func unpriced(all []*candidate) *candidate {
	for _, c := range all {
		if c.Tokens > 0 && c.CostMicros == 0 {
			return c
		}
	}
	return nil
}

// noteUnpriced says why tokens are compared instead of money.
func noteUnpriced(e *env, all []*candidate) {
	costs := func(o *candidate) bool { return o.CostMicros > 0 }
	switch c := unpriced(all); {
	case c == nil:
	case len(c.set.Prices) > 0:
		e.note("the policy %s has no price for the model, so tokens are compared instead of money: "+
			"name the model by -model", plain(c.Name))
	case slices.ContainsFunc(all, costs):
		e.note("the policy %s has no prices, so tokens are compared instead of money", plain(c.Name))
	default:
		e.note("no policy has prices, so tokens are compared instead of money: give prices, or -price")
	}
	for _, c := range all {
		if c.warned > 0 {
			e.note("the policy %s: %s would warn, the first of this: %s", plain(c.Name),
				several.Of(c.warned, "session"), plain(c.warning))
		}
	}
}

// isPriced reports whether money decides: all have prices. Without one a policy would seem to be free.
func isPriced(all []*candidate) bool { return unpriced(all) == nil }

// rank sorts policies, the best first and last those that the record does not answer for, and says which are
// dominated.
func rank(all []*candidate) {
	priced := isPriced(all)
	for _, c := range all {
		c.Dominated = slices.ContainsFunc(all, func(o *candidate) bool { return o.dominates(c, priced) })
	}
	slices.SortStableFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(min(a.Unanswered, 1), min(b.Unanswered, 1)),
			cmp.Compare(b.Succeeded, a.Succeeded), cmp.Compare(a.price(priced), b.price(priced)),
			cmp.Compare(a.WaitMS, b.WaitMS), cmp.Compare(a.Name, b.Name))
	})
}

// dominates reports whether c is as good as o in all, and better in something, whatever the record does not
// say: what has no answer may succeed, and costs more than is known.
func (c *candidate) dominates(o *candidate, priced bool) bool {
	orders := []int{
		cmp.Compare(c.Succeeded, o.most()), cmp.Compare(o.price(priced), c.price(priced)),
		cmp.Compare(o.WaitMS, c.WaitMS),
	}
	return c.Unanswered == 0 && slices.Min(orders) >= 0 && slices.Max(orders) > 0
}

// most returns the most sessions that can have succeeded.
func (c *candidate) most() int { return c.Succeeded + c.Unanswered }

// Plain returns the name in answers.
func (c *candidate) Plain() string { return plain(c.Name) }

// Successes returns the sessions that succeeded, and Share is their share in percent: each from the fewest to
// the most.
func (c *candidate) Successes() string {
	if c.Unanswered > 0 {
		return fmt.Sprintf("%d–%d", c.Succeeded, c.most())
	}
	return fmt.Sprint(c.Succeeded)
}

func (c *candidate) Share() string {
	if c.Unanswered > 0 {
		return fmt.Sprintf("%.0f–%.0f %%", c.percent(c.Succeeded), c.percent(c.most()))
	}
	return fmt.Sprintf("%.1f %%", c.percent(c.Succeeded))
}

func (c *candidate) percent(n int) float64 { return 100 * float64(n) / float64(max(c.Sessions, 1)) }

// Waited returns the time waited in all sessions.
func (c *candidate) Waited() time.Duration { return time.Duration(c.WaitMS) * time.Millisecond }

// writeRanks writes the table for people, with what was recorded as its last row if it is not nil.
func writeRanks(e *env, all []*candidate, recorded *candidate) {
	if recorded != nil {
		all = append(slices.Clip(all), recorded)
	}
	width := len("policy")
	for _, c := range all {
		width = max(width, utf8.RuneCountInString(c.Plain()))
	}
	e.printf("  %-*s  %8s %17s %8s %11s %12s %10s\n",
		width, "policy", "sessions", "succeeded", "calls", "tokens", "cost", "waited")
	for _, c := range all {
		mark, paint := "*", e.bold
		switch {
		case c.Unanswered > 0:
			mark, paint = "?", e.faint
		case c.Dominated || c == recorded:
			mark, paint = " ", e.faint
		}
		e.println(paint(fmt.Sprintf("%s %-*s  %8d %8s %8s %8d %11d %12s %10s",
			mark, width, c.Plain(), c.Sessions, c.Successes(), c.Share(), c.Calls, c.Tokens, c.Paid(true),
			c.Waited().Round(100*time.Millisecond))))
	}
	e.println("\n* no other policy is at least as good in successes, cost and time, and better in one")
}

// noteUnanswered names the policies that are not ranked, because the record ends first.
func noteUnanswered(e *env, all []*candidate) {
	var under []string
	for _, c := range all {
		if c.Unanswered > 0 {
			under = append(under, several.Of(c.Unanswered, "session")+" under "+c.Plain())
		}
	}
	if len(under) > 0 {
		e.note("the record stops to answer for %s: nobody knows how they would have ended, so what is marked "+
			"with ? is not ranked", strings.Join(under, ", "))
	}
}
