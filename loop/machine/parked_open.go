package machine

import (
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/packed"
	"github.com/retake-go/retake/session"
)

// layList lays a list, or takes it: an empty one as nil.
func layList[T any](r *packed.Room, list *[]T, lay func(*T, *packed.Room)) {
	n := len(*list)
	if packed.Int(r, &n); r.Takes() && n > 0 {
		*list = make([]T, n)
	}
	for n := range *list {
		lay(&(*list)[n], r)
	}
}

func (t *ToolSpent) lay(r *packed.Room) {
	packed.Text(r, &t.Tool)
	packed.Int(r, &t.Failed)
}

// layOpen lays the open actions and what failed attempts have spent, or takes them. The feedback of actions is where the session has it;
// what is not found there is put into elsewhere, in memory of its own, or taken from there.
func (st *State) layOpen(r *packed.Room, elsewhere *[]*feedback.RetryFeedback) {
	some := len(st.Actions) > 0 || st.Spent.Run != 0 || st.Spent.Unknown != 0 || len(st.Spent.Tools) > 0
	if packed.Flag(r, &some); !some {
		return
	}
	packed.Int(r, &st.Spent.Run)
	packed.Int(r, &st.Spent.Unknown)
	layList(r, &st.Spent.Tools, (*ToolSpent).lay)
	layList(r, &st.Actions, func(a *Action, r *packed.Room) {
		a.lay(r)
		place := placeOf(st.Session, a.Last)
		switch packed.Int(r, &place); {
		case place == notFound && r.Takes():
			a.Last, *elsewhere = (*elsewhere)[0], (*elsewhere)[1:]
		case place == notFound:
			*elsewhere = append(*elsewhere, new(*a.Last))
		case place > 0 && r.Takes():
			a.Last = toldAt(st.Session, place)
		}
	})
}

// lay lays an action without its feedback, or takes it. What it was proposed is not kept.
func (a *Action) lay(r *packed.Room) {
	packed.Text(r, &a.Name)
	packed.Int(r, &a.Number)
	packed.Int(r, &a.Attempt)
	packed.Int(r, &a.Waited)
	packed.Text(r, &a.Signature)
	packed.Int(r, &a.Repeats)
	packed.Flag(r, &a.Unknown)
}

// maxBack is how far back in the session's log an action's feedback is looked for; notFound stands for what is not there.
const maxBack, notFound = 16, -1

// placeOf is how far back the session has feedback, from 1; 0 where there is none.
func placeOf(held session.State, f *feedback.RetryFeedback) int {
	if f == nil {
		return 0
	}
	for place := range min(maxBack, held.Feedback().Len()) {
		if toldAt(held, place+1) == f {
			return place + 1
		}
	}
	return notFound
}

// toldAt is where the session has feedback.
func toldAt(held session.State, place int) *feedback.RetryFeedback {
	told := held.Feedback()
	at := told.Len() - place
	return &told.Slice(at, at+1)[0]
}
