package main

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// played is what came of one session.
type played struct {
	succeeded bool
	// attempt is the number of the reply that was accepted, from 1.
	attempt  int
	feedback int
	// reasons counts decisions.
	reasons map[policy.Reason]int
	digest  []byte
	final   machine.State
}

func playLine(l rawLine, cfg loop.Config, in *recordings) (played, error) {
	q, err := l.parse()
	if err == nil {
		err = in.claim(q.id, l)
	}
	if err != nil {
		return played{}, err
	}
	p, err := play(q, cfg, in)
	if err != nil {
		return played{}, fmt.Errorf("%s:%d: %w", l.file, l.number, err)
	}
	return p, nil
}

// play runs the session of one question from its first prompt to its end; a recorded one from where its
// journal ends. in is nil where nothing is recorded.
func play(q question, cfg loop.Config, in *recordings) (p played, err error) {
	cfg.Tools = q.tools
	t := &trace{sum: sha256.New(), reasons: map[policy.Reason]int{}}
	if in == nil {
		p.final, err = t.fresh(q, cfg)
	} else {
		p.final, err = in.play(q, cfg, t)
	}
	if err == nil {
		err = t.err
	}
	st := p.final
	p.succeeded, p.attempt = st.Outcome != nil && st.Outcome.OK, repliesOf(st)
	p.feedback, p.reasons, p.digest = st.Session.Feedback().Len(), t.reasons, t.sum.Sum(nil)
	return p, err
}

// fresh runs a session that nothing is known of yet.
func (t *trace) fresh(q question, cfg loop.Config, opts ...loop.Option) (machine.State, error) {
	s, err := session.New(session.Config{ID: q.id})
	if err != nil {
		return machine.State{}, err
	}
	runner, err := loop.NewRunner(s, cfg, t.record, opts...)
	if err != nil {
		return machine.State{}, err
	}
	defer runner.Close()
	t.begin(runner.State(), q.tools)
	effects, err := runner.Start(epoch, message.Message{Role: message.User, Text: q.prompt})
	if err == nil {
		err = drive(runner, q.script(), effects)
	}
	return runner.State(), err
}

// drive carries out what the core asks for until it stops or the script is out of replies. The reply to a
// call is that of the call's turn: nothing is counted here that a journal does not hold.
func drive(runner *loop.Runner, script []message.Reply, effects []machine.Effect) (err error) {
	for err == nil {
		switch next := effects[len(effects)-1]; {
		case next.Kind == machine.WaitUntil:
			effects, err = runner.Woke(next.Wait.Until)
		case next.Kind == machine.CallModel && next.Model.Turn <= len(script):
			effects, err = runner.Reply(runner.State().At, script[next.Model.Turn-1])
		default:
			return nil
		}
	}
	return err
}

// repliesOf counts the replies that a run has had.
func repliesOf(st machine.State) int {
	if st.Phase == machine.Calling {
		return st.Turn - 1
	}
	return st.Turn
}

// trace takes down what a session does.
type trace struct {
	sum     hash.Hash
	reasons map[policy.Reason]int
	// said is how much of the transcript was taken down.
	said int
	err  error
}

// heading is what a session begins with: all that its prompts are made from.
type heading struct {
	Session string         `json:"session"`
	Config  machine.Config `json:"config"`
	Tools   []toolSpec     `json:"tools"`
}

func (t *trace) begin(st machine.State, tools *tool.Set) {
	h := heading{Session: st.Session.ID(), Config: *st.Config}
	for _, o := range tools.All() {
		h.Tools = append(h.Tools, toolSpec{o.Name(), o.Description(), o.Parameters()})
	}
	line, err := canon.Marshal(h)
	t.line(line, err)
}

func (t *trace) record(ev machine.Event, effects []machine.Effect, st machine.State) {
	line, err := machine.Trace(ev, effects, st, t.said)
	t.said = st.Transcript.Len()
	t.step(line, err, effects)
}

// step takes down the line of a step.
func (t *trace) step(line []byte, err error, effects []machine.Effect) {
	t.line(line, err)
	for _, e := range effects {
		if e.Kind == machine.Decided {
			t.reasons[e.Decision.Reason]++
		}
	}
}

func (t *trace) line(line []byte, err error) {
	if t.err == nil {
		t.err = err
	}
	t.sum.Write(append(line, '\n'))
}
