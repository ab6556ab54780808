package inbox

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// Store is where sessions are and words for them are put: [journal.Dir], the stores in SQLite and PostgreSQL,
// and looptest.Store.
type Store interface {
	journal.Keeper
	journal.Inbox
}

// Question is a question of a session that waits for a person. Its arguments are as the journal has them:
// without what was left out of a redacted one.
type Question struct {
	// Session is the id of the session, and Call the ID of the question, by which it is answered.
	Session string `json:"session"`
	Call    string `json:"call"`
	machine.Ask
	// Schema is that of the arguments, which says what of them is secret; nil if the journal does not have
	// it.
	Schema json.RawMessage `json:"-"`
	// Answer is the answer that waits for the run to take it, or nil.
	Answer *machine.Response `json:"-"`
}

// Pending yields the questions of all sessions that can be answered at the time now: by session in ascending
// order, then in call order. A journal or inbox that cannot be read is yielded as a question of its session
// with the error; errors of the whole store have no session. It takes no lock.
func Pending(ctx context.Context, store Store, now time.Time) iter.Seq2[Question, error] {
	return func(yield func(Question, error) bool) {
		asking := journal.Filter{States: []journal.SessionState{journal.SessionAsks}}
		for s, err := range journal.Summaries(ctx, store, asking, now) {
			var all []Question
			if err == nil {
				all, err = PendingOf(ctx, store, s.Session, now)
			}
			if err != nil && !yield(Question{Session: s.Session}, err) {
				return
			}
			for _, q := range all {
				if !yield(q, nil) {
					return
				}
			}
		}
	}
}

// PendingOf returns the questions of one session that can be answered at the time now, in call order. The
// error is [journal.ErrNoRun] if there is no such session, or that of its journal or its inbox.
func PendingOf(ctx context.Context, store Store, session string, now time.Time) ([]Question, error) {
	f, err := journal.Last(ctx, store, session)
	if err != nil {
		return nil, err
	}
	items, err := store.Items(ctx, session)
	var all []Question
	for _, a := range f.State.Asks() {
		if !a.Deadline.IsZero() && !now.Before(a.Deadline) {
			continue
		}
		q := Question{Session: session, Call: a.ID, Ask: a, Schema: f.Form(a.Tool)}
		if n := slices.IndexFunc(items, isAnswerTo(a.ID)); n >= 0 {
			q.Answer, _ = mail.ResponseIn(items[n]) // what cannot be read is the run's to say
		}
		all = append(all, q)
	}
	return all, chain.Bounded(err)
}

func isAnswerTo(question string) func(journal.Item) bool {
	return func(i journal.Item) bool { return i.Kind == journal.AnswerItem && i.Key == question }
}
