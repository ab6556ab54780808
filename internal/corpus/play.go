package corpus

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Config says how questions are played. The zero value has the default policy and records in memory.
type Config struct {
	// Policy is the policy of the runs; nil means [policy.DefaultSet].
	Policy *policy.Set
	// Seed is the seed of the jitter; empty means the id of each question.
	Seed string
	// Journals keeps the journal of each run under the question's id. A run that has a journal already
	// continues at its end. Nil means a journal in memory for each run.
	Journals journal.Store
	// Settings are those of the journals.
	Settings journal.Settings
	// Model is the provider's name of the model, for the prices and budgets of the policy; empty means
	// unknown.
	Model string
	// Estimate gives each reply the usage that [machine.EstimateTokens] estimates, because a corpus has none.
	Estimate bool
}

// Run is the result of a question that was played.
type Run struct {
	// Attempt is the number of the accepted reply, from 1; 0 if none was accepted.
	Attempt int
	// Unreadable reports that the run was exhausted by a reply that could not be read; see
	// [Verdict.Unreadable].
	Unreadable bool
	// Feedback counts the records of feedback.
	Feedback int
	// Reasons counts the decisions by reason.
	Reasons map[policy.Reason]int
	// Digest is the SHA-256 of the run's trace ([journal.Trace]): all events, decisions, waits and prompts.
	Digest [sha256.Size]byte
	// State is the state of the core at the end.
	State machine.State
}

// Play runs one question. Attempt k gets the k-th reply of the ladder. The run ends with the first reply
// whose calls are all accepted, when the policy allows no further attempt, or when there is no further reply.
// An error names the question's place.
func (c Config) Play(ctx context.Context, q Question) (Run, error) {
	if c.Journals == nil {
		c.Journals = &looptest.Store{}
	}
	var run Run
	st, err := c.play(ctx, q)
	if err == nil {
		run, err = c.account(ctx, q, st)
	}
	if err != nil {
		return Run{}, fmt.Errorf("%s: session %q: %w", q.Place, q.ID, err)
	}
	return run, nil
}

// play begins a run or continues the recorded one.
func (c Config) play(ctx context.Context, q Question) (st machine.State, err error) {
	j, err := journal.Open(ctx, c.Journals, q.ID, c.Settings)
	if err != nil {
		return st, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	past, err := j.Past()
	if err != nil {
		return st, err
	}
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		return st, err
	}
	cfg := loop.Config{Tools: q.Tools, Policy: c.Policy, Seed: c.Seed, CallsOnly: true}
	if c.Model != "" {
		cfg.Models = map[string]machine.ModelInfo{"": {Name: c.Model}}
	}
	if past.Header.Format != "" {
		if err := fits(past, q, cfg); err != nil || over(past, q) {
			return past.State, err
		}
	}
	of := engine.RunnerConfig{Session: s, Offer: engine.Offer{Tools: q.Tools, CallsOnly: true},
		Now: looptest.Epoch}
	if !past.Unfinished() {
		if of.Machine, err = compiled(cfg); err != nil {
			return st, err
		}
	}
	runner, err := engine.New(of)
	if err != nil {
		return st, err
	}
	if past.Unfinished() {
		asked, err := runner.Next()
		return c.drive(runner, q, []machine.Effect{asked}, err)
	}
	effects, err := runner.Start(looptest.Epoch, message.Message{Role: message.User, Text: q.Prompt})
	return c.drive(runner, q, effects, err)
}

func compiled(cfg loop.Config, opts ...loop.Option) (*machine.Compiled, error) {
	m, err := cfg.Machine(opts...)
	if err != nil {
		return nil, err
	}
	return machine.Compile(&m)
}

// drive carries out the effects until the core stops or the script has no further reply. The reply to a call
// is that of its turn.
func (c Config) drive(
	runner *engine.Runner, q Question, effects []machine.Effect, err error,
) (machine.State, error) {
	script, tools := q.script(), engine.Offer{Tools: q.Tools, CallsOnly: true}
	defer runner.Close()
	for err == nil {
		switch next := effects[len(effects)-1]; {
		case next.Kind == machine.WaitUntil:
			effects, err = runner.Woke(next.Wait.Until)
		case next.Kind == machine.CallModel && next.Model.Turn <= len(script):
			reply := script[next.Model.Turn-1]
			if c.Estimate {
				reply.Usage = estimated(runner.State(), tools, &reply)
			}
			effects, err = runner.Reply(runner.State().At, reply)
		default:
			return runner.State(), nil
		}
	}
	return runner.State(), err
}

// estimated estimates the usage of a call by its texts.
func estimated(st machine.State, tools engine.Offer, r *message.Reply) message.Usage {
	offered := message.Message{Role: message.System, Text: strings.Repeat(" ", int(tools.Size()))}
	return message.Usage{
		InputTokens: machine.EstimateTokens(append([]message.Message{offered}, st.Shown()...)),
		OutputTokens: machine.EstimateTokens([]message.Message{{Role: message.Assistant, Text: r.Text,
			Calls: r.Calls}}),
		APICalls: 1,
	}
}

// over reports whether a recorded run has ended: it has stopped, or it asks for a reply that the script does
// not have.
func over(past *journal.Fold, q Question) bool {
	asked := past.Asked
	return past.State.Phase == machine.Stopped ||
		asked.Kind == machine.CallModel && asked.Model.Turn > len(q.script())
}

// fits returns an error if a run was recorded with another config or question.
func fits(past *journal.Fold, q Question, cfg loop.Config) error {
	m, err := cfg.Machine()
	if err != nil {
		return err
	}
	now := past.Header
	now.Config, now.Tools = m, engine.Header(m, engine.Offer{Tools: q.Tools}).Tools
	if d, differ := journal.DiffHeaders(past.Header, now); differ {
		return fmt.Errorf("it was recorded under another config (recorded -> now):\n%s\n"+
			"give other journals, or remove this one", d)
	}
	if said := past.State.Transcript(); len(said) > 0 && said[0].Text != q.Prompt {
		return errors.New("it was recorded with another question: give other journals, or remove this one")
	}
	return nil
}

// account counts what came of a run.
func (c Config) account(ctx context.Context, q Question, st machine.State) (Run, error) {
	run := Run{Feedback: len(st.Session.Feedback()), Reasons: map[policy.Reason]int{}, State: st}
	all := st.Session.Attempts()
	for _, a := range all {
		run.Reasons[a.Reason]++
	}
	if st.Outcome != nil && st.Outcome.OK {
		run.Attempt = st.Turn
	} else if len(all) > 0 {
		run.Unreadable = Verdict{Issues: issuesOf(nil, all[len(all)-1].Issues)}.Unreadable()
	}
	log, err := c.Journals.Open(ctx, q.ID)
	if err != nil {
		return run, err
	}
	defer log.Close()
	in, err := log.Read(ctx)
	if err != nil {
		return run, err
	}
	defer in.Close()
	trace := sha256.New()
	err = journal.Trace(in, trace)
	trace.Sum(run.Digest[:0])
	return run, err
}
