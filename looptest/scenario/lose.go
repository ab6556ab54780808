package scenario

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

// errLost is the error of every lost step. Users must not see it.
var errLost = errors.New("ECONNREFUSED: connection refused at 127.0.0.1:443")

// lost has a function for each step that can be lost. It loses the step and goes on without it.
var lost = map[string]func(*story, *line) error{
	"history": (*story).loseHistory, "telemetry": (*story).loseTelemetry,
	"storage": (*story).loseStorage,
}

func (sc *story) lose(l *line) error {
	do, ok := lost[l.name]
	if !ok {
		return fmt.Errorf("%q is none of history, telemetry, storage", l.name)
	}
	return do(sc, l)
}

func (sc *story) loseHistory(l *line) error {
	system := degrade.OrElse(context.Background(), &sc.fallbacks, degrade.HistoryFailed,
		func(context.Context) (string, error) { return "", errLost }, func() string { return l.body })
	return sc.step(machine.Event{Kind: machine.Prompted, System: system})
}

// loseTelemetry sends two notices to a tracer that panics. It does not get the second.
func (sc *story) loseTelemetry(*line) error {
	tracer := degrade.Guard(&sc.fallbacks, observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		sc.say("the tracer is told of " + string(n.Kind) + " and panics")
		panic(errLost)
	}))
	for _, kind := range []observe.NoticeKind{observe.AttemptEnded, observe.Retrying} {
		tracer.Observe(context.Background(), observe.Notice{Kind: kind})
	}
	return nil
}

// full is a storage that stores nothing.
type full struct{}

func (full) Save(context.Context, string, []byte) error { return errLost }

func (full) Load(context.Context, string) ([]byte, error) { return nil, errLost }

// loseStorage stores the session in a storage that fails, and restores it from memory.
func (sc *story) loseStorage(*line) error {
	st, ctx := sc.runner.State().Session, context.Background()
	data, err := st.Snapshot()
	if err != nil {
		return err
	}
	kept := degrade.KeepInMemory(&sc.fallbacks, full{}, len(data))
	if err := kept.Save(ctx, st.ID(), data); err != nil {
		return err
	}
	if data, err = kept.Load(ctx, st.ID()); err != nil {
		return err
	}
	s, err := session.Restore(sc.sessionConfig(""), data)
	if err != nil {
		return err
	}
	sc.say("in memory: " + s.ID() + ", " + strconv.Itoa(s.State().AttemptCount()) + " attempts")
	if err := kept.Save(ctx, "more", []byte("x")); err != nil {
		sc.say("no more fits: " + err.Error())
	}
	return nil
}

// showEnvelope shows the result of the run in a wire form, with a warning for each lost step.
func (sc *story) showEnvelope(l *line) error {
	r := agent.Envelope(loop.ResultOf(sc.runner.End(), nil))
	r.Meta = sc.fallbacks.AddTo(r.Meta)
	doc, err := result.Encode(result.Form(l.name), r)
	if err != nil {
		return err
	}
	sc.say(string(doc))
	return nil
}
