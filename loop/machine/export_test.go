package machine

import (
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// Bare is a state without its persistent sequences, for comparing fields.
func Bare(st State) State {
	st.Session, st.transcript, st.compiled, st.policies = session.State{}, seq.Log[message.Message]{}, nil, nil
	st.asked, st.failures = [len(st.asked)]byte{}, seq.Log[ToolFailure]{}
	st.turns, st.doubts, st.given = seq.Log[projection.Turn]{}, seq.Log[doubt]{}, seq.Log[Given]{}
	st.inner.made = seq.Log[madeCall]{}
	st.recent, st.shownCalls = seq.Window[finishedCall]{}, seq.Window[CycleCall]{}
	return st
}
