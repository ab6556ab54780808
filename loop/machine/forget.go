package machine

import "github.com/retake-go/retake/message"

// GoOn makes an idle state continue the conversation of another, so that Started only has the new messages.
// st must be idle; from does not change.
func (st *State) GoOn(from *State) { st.transcript = from.transcript }

// Forget drops what no later step reads: the messages before the model's last one but for the last few, the
// attempts and the errors of reducers. Their numbers stay. It is for code that folds many events and shows none
// of that. Idempotency keys do not change.
func (st *State) Forget() {
	from, held := 0, st.transcript.Len()
	for n, m := range st.transcript.Backward() {
		if from = n; m.Role == message.Assistant && held-n >= recent {
			break
		}
	}
	st.transcript, st.Session = st.transcript.Forget(from), st.Session.Forget()
}
