package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/loop/machine"
)

// Summary is how a session is, in a few values: those of its last run that has begun.
type Summary struct {
	Session string       `json:"id"`
	State   SessionState `json:"state"`
	// Why is the reason of a wait or of an end, the kind of the first question, or what a run does now: the
	// kind of its effect.
	Why string `json:"why,omitempty"`
	// Until is when a wait ends, and the first deadline of its questions.
	Until time.Time `json:"until,omitzero"`
	// InDoubt is the number of calls that ended without saying whether they had an effect.
	InDoubt int `json:"in_doubt"`
	// Turns is the number of replies, and Tokens those of all calls, read and written. Cost is what the calls
	// cost, in millionths, if the policy has prices.
	Turns  int   `json:"turns"`
	Tokens int64 `json:"tokens"`
	Cost   int64 `json:"cost_micros,omitempty"`
	// Since is when the run began. Last is when its last event happened.
	Since time.Time `json:"since,omitzero"`
	Last  time.Time `json:"last,omitzero"`
}

// SessionState says how a session is.
type SessionState string

// The states of sessions.
const (
	// SessionRuns: its run has something to do, and a writer holds its journal.
	SessionRuns SessionState = "running"
	// SessionWaits: its run waits until a time that has not come.
	SessionWaits SessionState = "waiting"
	// SessionAsks: its run waits for a person, and can be answered.
	SessionAsks SessionState = "asking"
	// SessionInterrupted: its run has something to do, but no writer holds its journal. It can be resumed.
	SessionInterrupted SessionState = "interrupted"
	// SessionDone: its last run ended well.
	SessionDone SessionState = "done"
	// SessionFailed: its last run ended otherwise.
	SessionFailed SessionState = "failed"
)

var sessionStates = []SessionState{SessionRuns, SessionWaits, SessionAsks, SessionInterrupted, SessionDone,
	SessionFailed}

// Ended reports whether the last run has ended.
func (s SessionState) Ended() bool { return s == SessionDone || s == SessionFailed }

// Summary says how the session is. held says whether a writer holds the journal, and now is the time.
func (f *Fold) Summary(held bool, now time.Time) Summary {
	f = f.begunLast()
	st := &f.State
	s := Summary{
		Session: f.Header.Session, InDoubt: len(st.InDoubt()), Turns: st.Turn, Since: f.since, Last: st.At,
		Tokens: st.Usage.Total(), Cost: st.Charged.Cost,
	}
	if end := st.Outcome; st.Phase == machine.Stopped && end != nil {
		s.Why, s.InDoubt = string(end.Reason), len(end.InDoubt)
		if s.State = SessionFailed; end.OK {
			s.State = SessionDone
		}
		return s
	}
	s.Why = string(f.Asked.Kind)
	s.State = SessionInterrupted
	switch until := machine.AskedUntil(f.Asked.Asks); {
	case f.Asked.Kind == machine.AskPerson && (held || until.IsZero() || now.Before(until)):
		s.State, s.Why, s.Until = SessionAsks, string(f.Asked.Asks[0].Kind), until
	case f.Asked.Kind == machine.WaitUntil && f.Asked.Wait != nil && (held || now.Before(f.Asked.Wait.Until)):
		s.State, s.Why, s.Until = SessionWaits, string(f.Asked.Wait.Reason), f.Asked.Wait.Until
	case held:
		s.State = SessionRuns
	}
	return s
}

// Last returns the last run of a session that has begun: see [Follower]. It takes no lock. A journal that is
// replaced while it is read is read again. The error is [ErrNoRun] if none has, that of the store, or that of
// Replay for a changed line; the fold has the id of the session then, too.
func Last(ctx context.Context, store Keeper, session string) (*Fold, error) {
	if store == nil {
		return nil, errNoStore
	}
	last, err := lookAt(ctx, store, session)
	if errors.Is(err, ErrCorrupt) {
		last, err = lookAt(ctx, store, session)
	}
	if err != nil {
		return &Fold{Header: Header{Session: session}}, fmt.Errorf("session %q: %w", session, err)
	}
	return last, nil
}

// lookAt reads a journal once.
func lookAt(ctx context.Context, store Keeper, session string) (*Fold, error) {
	in, err := store.Peek(ctx, session)
	if err != nil {
		return nil, chain.Bounded(err)
	}
	var f Follower
	if err = errors.Join(f.Read(in), in.Close()); err != nil {
		return nil, chain.Bounded(err)
	}
	return f.Last()
}

// Filter says which sessions are wanted. The zero value wants all.
type Filter struct {
	// States are the states of those wanted; empty for any.
	States []SessionState
	// Before and After bound the last event; zero for no bound.
	Before, After time.Time
}

// takes reports whether a session is wanted.
func (f Filter) takes(s Summary) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, s.State)) &&
		(f.Before.IsZero() || s.Last.Before(f.Before)) && (f.After.IsZero() || s.Last.After(f.After))
}

// Summaries yields the sessions of a store that a filter takes, in ascending order of their ids, as they are
// at the time now. Sessions without a run are left out. A journal that cannot be read is yielded with its id
// and the error, whatever the filter; errors of the store have no id. No lock is taken.
func Summaries(ctx context.Context, store Keeper, f Filter, now time.Time) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		if store == nil {
			yield(Summary{}, errNoStore)
			return
		}
		all, err := store.Stats(ctx)
		if err != nil && !yield(Summary{}, chain.Bounded(err)) {
			return
		}
		for _, stat := range all {
			if err := ctx.Err(); err != nil {
				yield(Summary{}, err)
				return
			}
			run, err := Last(ctx, store, stat.Session)
			s := Summary{Session: stat.Session}
			if err == nil {
				s = run.Summary(stat.Held, now)
			}
			gone := errors.Is(err, ErrNoRun)
			if !gone && (err != nil || f.takes(s)) && !yield(s, err) {
				return
			}
		}
	}
}
