package machine

import (
	"crypto/sha256"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/message"
)

// said is the digest of the first messages of a transcript. The zero value is the digest of none.
type said struct {
	messages int
	digest   [sha256.Size]byte
}

// appendRequest appends what identifies the run's request in its session: its id, or the digest of the
// conversation when the run began. The digest is computed at the first call of a run, and continues that of
// the run before.
func (st *State) appendRequest(b []byte) []byte {
	if id := st.Config.RequestID; id != "" {
		return appendPart(append(b, "id:"...), id)
	}
	st.asked.hear(st.transcript, st.Began)
	return append(append(b, "said:"...), st.asked.digest[:]...)
}

// GoOn makes an idle state continue the conversation of another, so that Started only has the new messages.
// st must be idle; from does not change.
func (st *State) GoOn(from *State) {
	st.transcript, st.asked = from.transcript, from.asked
	if from.later.messages > from.asked.messages {
		st.asked = from.later
	}
}

// Forget drops what no step reads any more: the messages before the model's last one, the attempts and the
// errors of reducers. Their numbers stay. It is for code that folds many events and shows none of that.
// Idempotency keys do not change.
func (st *State) Forget() {
	st.asked.hear(st.transcript, st.Began)
	if st.later.messages < st.asked.messages {
		st.later = st.asked
	}
	st.later.hear(st.transcript, st.transcript.Len())
	from := 0
	for n, m := range st.transcript.Backward() {
		if from = n; m.Role == message.Assistant {
			break
		}
	}
	st.transcript, st.Session = st.transcript.Forget(from), st.Session.Forget()
}

// hear extends the digest to the first n messages.
func (d *said) hear(t seq.Log[message.Message], n int) {
	if d.messages == n {
		return
	}
	if d.messages > n {
		*d = said{}
	}
	for _, m := range t.From(d.messages)[:n-d.messages] {
		text, err := canon.Declared(m)
		if err != nil { // not UTF-8, so it cannot be recorded
			text = fmt.Append(nil, m)
		}
		d.digest = sha256.Sum256(append(d.digest[:], text...))
	}
	d.messages = n
}
