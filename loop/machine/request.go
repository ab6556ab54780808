package machine

import (
	"crypto/sha256"
	"strconv"

	"github.com/retake-go/retake/message"
)

// said is the digest of the first messages of a transcript. The zero value is that of none.
type said struct {
	messages int
	digest   [sha256.Size]byte
}

// appendRequest appends what tells the run's request from the others of its session: its id, else the digest of what had been said when
// the run began. The digest is made at the first call of a run, and goes on from that of the run before.
func (st *State) appendRequest(b []byte) []byte {
	if id := st.Config.RequestID; id != "" {
		return appendPart(append(b, "id:"...), id)
	}
	if st.asked.messages != st.Began {
		st.asked.hear(st.Transcript, st.Began)
	}
	return append(append(b, "said:"...), st.asked.digest[:]...)
}

// hear goes on until the digest is that of the first n messages.
func (d *said) hear(t message.Transcript, n int) {
	if d.messages > n {
		*d = said{}
	}
	var room [1 << 10]byte
	text := room[:0]
	for _, m := range t.Slice(d.messages, n) {
		text = appendSaid(append(text[:0], d.digest[:]...), &m)
		d.digest = sha256.Sum256(text)
	}
	d.messages = n
}

// appendSaid appends all that a message says, so that no two messages read the same.
func appendSaid(b []byte, m *message.Message) []byte {
	for _, part := range [...]string{string(m.Role), m.Text, m.CallID, m.Name, m.Opaque} {
		b = appendPart(b, part)
	}
	b = append(strconv.AppendBool(b, m.IsError), ':')
	for _, c := range m.Calls {
		for _, part := range [...]string{c.ID, c.Name, c.Arguments} {
			b = appendPart(b, part)
		}
	}
	return b
}
