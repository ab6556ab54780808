package machine

import (
	"crypto/sha256"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/seq"
)

// said is the digest of the first messages of a transcript. The zero value is that of none.
type said struct {
	messages int
	digest   [sha256.Size]byte
}

// appendRequest appends what tells the run's request from the others of its session: its id, else the digest
// of what had been said when the run began. The digest is made at the first call of a run, and goes on from
// that of the run before.
func (st *State) appendRequest(b []byte) []byte {
	if id := st.Config.RequestID; id != "" {
		return appendPart(append(b, "id:"...), id)
	}
	st.asked.hear(st.Transcript, st.Began)
	return append(append(b, "said:"...), st.asked.digest[:]...)
}

// GoOn makes an idle state go on with the conversation of another, for a run whose history that is: Started
// then says only what is new. st must be idle; from is left as it was.
func (st *State) GoOn(from *State) {
	st.Transcript, st.asked = from.Transcript, from.asked
	if from.later.messages > from.asked.messages {
		st.asked = from.later
	}
}

// Forget lets go of what was said, but for what a run still looks at: all since the model's last message. It
// is for who folds very many events and shows the conversation to nobody. Keys stay as they are.
func (st *State) Forget() {
	st.asked.hear(st.Transcript, st.Began)
	if st.later.messages < st.asked.messages {
		st.later = st.asked
	}
	st.later.hear(st.Transcript, st.Transcript.Len())
	all := make([]message.Message, st.Transcript.Len())
	for n, m := range st.Transcript.Backward() {
		if all[n] = m; m.Role == message.Assistant {
			break
		}
	}
	st.Transcript = seq.Of(all...)
}

// hear goes on until the digest is that of the first n messages.
func (d *said) hear(t message.Transcript, n int) {
	if d.messages == n {
		return
	}
	if d.messages > n {
		*d = said{}
	}
	for _, m := range t.Slice(d.messages, n) {
		text, err := canon.Marshal(m)
		if err != nil { // it is not UTF-8, and can be recorded nowhere
			text = fmt.Append(nil, m)
		}
		d.digest = sha256.Sum256(append(d.digest[:], text...))
	}
	d.messages = n
}
