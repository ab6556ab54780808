package machine

import (
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/seq"
	"github.com/retake-go/retake/session"
)

// Bare is a state without its persistent sequences, to be compared field by field.
func Bare(st State) State {
	st.Session, st.Transcript, st.asked, st.words, st.policies = session.State{}, seq.Log[message.Message]{}, said{}, nil, nil
	st.Batch = st.Batch.clone()
	return st
}
