package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
)

var runCommand = command{
	name:    "run",
	summary: "whole runs over recorded replies: who is corrected, and after how many attempts",
	usage:   []string{"run -corpus FILE [-policy FILE|preset:NAME] [-seed S] [-first N] [-journal DIR] [-sync WHEN] [-json]"},
	about: `
Each question of FILE is a session of its own on a clock that stands still but for the waits. Its model answers attempt k
with the k-th reply of the question's "ladder" (a list of indexes of its replies), or in file order where there is none. A
session ends with the first reply whose calls are all accepted; no tool is run. It is exhausted when the policy allows no
further attempt, and when there is no further reply. "retake check -h" says what FILE looks like.

JSON: {"sessions", "succeeded", "exhausted", "attempts": {"1", "2", ...}, "feedback", "calls_by_reason", "events_sha256"}.
"attempts" counts sessions by the attempt that succeeded, "feedback" the records of feedback, "calls_by_reason" the
decisions on attempts by their reason. "events_sha256" covers every event, decision, delay and prompt of every session: it
is the same on every run and machine, however many processors there are. Without -seed each session draws from its id.

With -journal each session is recorded in a file of its own in DIR. Where DIR holds journals already, the sessions that have
ended are taken from them, the others go on where they were left, and the answer is that of one run that was never
interrupted. A journal of another policy, seed or question is refused.`,
	task: func() task { return &runs{} },
}

type runs struct {
	corpus, policy, seed string
	journal              string
	sync                 journal.Sync
	first                int
	json                 bool
}

func (r *runs) declare(fs *flag.FlagSet) {
	fs.StringVar(&r.corpus, "corpus", "", "the questions and replies: `FILE`, one question a line")
	fs.StringVar(&r.policy, "policy", "", "the policy: a YAML or JSON `FILE`, or preset:NAME")
	fs.StringVar(&r.seed, "seed", "", "draw the jitter from the seed `S`; without one each session draws from its id")
	fs.Func("first", "only the first `N` questions", func(s string) (err error) {
		r.first, err = count(s, math.MaxInt32)
		return err
	})
	fs.StringVar(&r.journal, "journal", "", "record each session in a file in `DIR`, and go on with those that are there")
	fs.Func("sync", "`WHEN` records outlive a loss of power: never (the default), waits or records", func(s string) error {
		r.sync = journal.Sync(s)
		return journal.Settings{Sync: r.sync}.Validate()
	})
	fs.BoolVar(&r.json, "json", false, "write JSON")
}

func (r *runs) run(e *env) error {
	if r.corpus == "" {
		return misused("-corpus is missing: give a file with one question a line, as JSON")
	}
	from, err := readPolicy(r.policy)
	if err != nil {
		return err
	}
	in, err := openRecordings(r.journal, r.sync)
	if err != nil {
		return err
	}
	f, err := openCorpus(r.corpus)
	if err != nil {
		return err
	}
	defer f.Close()
	cfg := loop.Config{Policy: &from.set, CallsOnly: true, Seed: r.seed}
	seen := progressOf(e, "sessions")
	sum := newSummary()
	err = inOrder(lines(r.corpus, f, r.first), func(l rawLine) (played, error) { return playLine(l, cfg, in) }, func(p played) error {
		seen.step()
		sum.add(p)
		return nil
	})
	seen.done()
	switch {
	case err != nil:
		return err
	case r.json:
		return e.json(sum.finish())
	}
	sum.finish().write(e)
	return nil
}

// summary is the answer of run.
type summary struct {
	Sessions  int                   `json:"sessions"`
	Succeeded int                   `json:"succeeded"`
	Exhausted int                   `json:"exhausted"`
	Attempts  byAttempt             `json:"attempts"`
	Feedback  int                   `json:"feedback"`
	Reasons   map[policy.Reason]int `json:"calls_by_reason"`
	Events    string                `json:"events_sha256"`

	digests bytes.Buffer
}

func newSummary() *summary {
	return &summary{Attempts: make(byAttempt, 3), Reasons: map[policy.Reason]int{}}
}

func (s *summary) add(p played) {
	s.Sessions++
	s.Feedback += p.feedback
	for reason, n := range p.reasons {
		s.Reasons[reason] += n
	}
	s.digests.Write(p.digest)
	if !p.succeeded {
		s.Exhausted++
		return
	}
	s.Succeeded++
	s.Attempts.count(p.attempt)
}

func (s *summary) finish() *summary {
	sum := sha256.Sum256(s.digests.Bytes())
	s.Events = hex.EncodeToString(sum[:])
	return s
}

// byAttempt counts sessions by attempt, the first at index 0.
type byAttempt []int

func (b *byAttempt) count(attempt int) {
	for len(*b) < attempt {
		*b = append(*b, 0)
	}
	(*b)[attempt-1]++
}

// MarshalJSON writes an object whose names are the attempts, in order.
func (b byAttempt) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for n, count := range b {
		if n > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:%d", strconv.Itoa(n+1), count)
	}
	return append(out, '}'), nil
}

// write shows the summary to people.
func (s *summary) write(e *env) {
	fmt.Fprintf(e.out, "%s\n\n", e.paint.bold(fmt.Sprintf("%d sessions", s.Sessions)))
	s.row(e, "succeeded", s.Succeeded)
	for n, count := range s.Attempts {
		s.row(e, fmt.Sprintf("  at attempt %d", n+1), count)
	}
	s.row(e, "exhausted", s.Exhausted)
	fmt.Fprintf(e.out, "\nfeedback records  %d\ndecisions\n", s.Feedback)
	for _, reason := range slices.Sorted(maps.Keys(s.Reasons)) {
		fmt.Fprintf(e.out, "  %-20s %6d  %s\n", string(reason), s.Reasons[reason], e.paint.faint(reason.Error()))
	}
	fmt.Fprintf(e.out, "\nevents %s\n", s.Events)
}

func (s *summary) row(e *env, name string, count int) {
	share := 0.0
	if s.Sessions > 0 {
		share = float64(count) / float64(s.Sessions)
	}
	line := fmt.Sprintf("%-16s %6d  %5.1f %%", name, count, 100*share)
	if bar := strings.Repeat("█", int(share*barWidth)); bar != "" {
		line += "  " + e.paint.cyan(bar)
	}
	fmt.Fprintln(e.out, line)
}
