package main

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"

	"github.com/retake-go/retake/internal/corpus"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

var playCommand = command{
	name:    "play",
	alias:   "run",
	summary: "plays whole runs over recorded replies, and counts who is corrected at which attempt",
	example: "retake play -corpus replies.jsonl -policy policy.yaml",
	usage: []string{
		"play -corpus FILE [-policy FILE|preset:NAME] [-seed S] [-first N] [-journal DIR]\n" +
			"              [-fail-on none|unreadable|any] [-json]",
	},
	about: `
Plays each question of FILE as a session of its own, on a fake clock. Attempt k gets the k-th reply of the
question, or of its "ladder", a list of indexes of replies. A session succeeds with the first reply whose
calls are all accepted. It is exhausted if the policy allows no further attempt, or if there is no further
reply. No tool is run. "retake check -h" describes FILE.

The exit status is 1 if a session is exhausted` + failOnAbout + ` A session is unreadable if
its last reply could not be read.

With -journal each session is recorded in a file in DIR. A session whose journal is there already is read from
it, or continued at its end. The answer is the same as without an interruption. A journal of another policy,
seed or question is refused.

JSON: {"sessions", "succeeded", "exhausted", "attempts": {"1", "2", ...}, "feedback", "calls_by_reason",
"events_sha256"}. "attempts" counts sessions by the attempt that succeeded, "feedback" the records of
feedback, "calls_by_reason" the decisions by their reason. "events_sha256" covers every event, decision,
wait and prompt, and is the same on every machine. Without -seed each session draws its jitter from its id.`,
	task: newTask[play],
}

type play struct {
	jsonAnswer
	failOn
	policyFlag
	Corpus  string `flag:"corpus FILE" help:"the questions and replies: FILE, one question a line"`
	Seed    string `flag:"seed S" help:"draw the jitter from the seed S; without it, from the id of each session"`
	First   count  `flag:"first N" help:"only the first N questions"`
	Journal string `flag:"journal DIR" help:"record each session in a file in DIR, and continue those that are there"`
}

func (p *play) run(e *env) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	var sum corpus.Summary
	for q, err := range questions(p.Corpus) {
		if err != nil {
			return err
		}
		run, err := cfg.Play(context.Background(), q)
		if err != nil {
			return err
		}
		p.count(run.Attempt > 0, run.Unreadable)
		sum.Add(run)
		if sum.Sessions == int(p.First) {
			break
		}
	}
	if p.JSON {
		err = e.json(sum)
	} else {
		writeSummary(e, sum)
	}
	return cmp.Or(err, p.failed())
}

// newStore makes the store of a directory.
var newStore = func(dir string) journal.Store { return journal.Dir(dir) }

// config returns the config of the sessions.
func (p *play) config() (cfg corpus.Config, err error) {
	if p.Corpus == "" {
		return cfg, misused("-corpus is missing: give a file with one question a line, as JSON")
	}
	from, err := readPolicy("-policy", p.Policy)
	if err != nil {
		return cfg, err
	}
	if from.set.Spending.Costs() { // each run would end before its first call
		return cfg, misused("-policy: %s bounds money, and a corpus has no model with a price: leave the costs "+
			"out, or give it to retake tune, with -model", p.Policy)
	}
	cfg = corpus.Config{Policy: &from.set, Seed: p.Seed}
	if p.Journal == "" {
		return cfg, nil
	}
	if info, err := os.Stat(p.Journal); err == nil && !info.IsDir() {
		return cfg, misused("-journal: %s is a file: give a directory; it is created if it does not exist",
			p.Journal)
	}
	cfg.Journals, cfg.Settings.Sync = newStore(p.Journal), journal.SyncNever
	return cfg, nil
}

// questions reads the file of -corpus.
func questions(path string) iter.Seq2[corpus.Question, error] {
	return func(yield func(corpus.Question, error) bool) {
		f, err := openNamed("-corpus", path, "give a file with one question a line, as JSON")
		if err != nil {
			yield(corpus.Question{}, err)
			return
		}
		defer f.Close()
		corpus.Read(path, f)(yield)
	}
}

// writeSummary writes the counts for people.
func writeSummary(e *env, s corpus.Summary) {
	row := func(name string, count int) {
		share := 100 * float64(count) / float64(s.Sessions)
		line := fmt.Sprintf("%-16s %6d  %5.1f %%", name, count, share)
		if bar := bar(count, s.Sessions); bar != "" {
			line += "  " + e.cyan(bar)
		}
		e.println(line)
	}
	e.printf("%s\n\n", e.bold(several.Of(s.Sessions, "session")))
	row("succeeded", s.Succeeded)
	for _, attempt := range slices.Sorted(maps.Keys(s.Attempts)) {
		row(fmt.Sprintf("  at attempt %d", attempt), s.Attempts[attempt])
	}
	row("exhausted", s.Exhausted)
	e.printf("\nfeedback records  %d\ndecisions\n", s.Feedback)
	for _, reason := range slices.Sorted(maps.Keys(s.Reasons)) {
		text := e.faint(reason.Phrase())
		e.printf("  %-20s %6d  %s\n", string(reason), s.Reasons[reason], text)
	}
	e.printf("\nevents %s\n", s.Events)
}
