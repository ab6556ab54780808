package machine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// The lengths of signatures and idempotency keys, in hexadecimal digits.
const (
	signatureLen = 16
	keyLen       = 32
)

// hashBufferSize is the space for a text to hash, in bytes. Most texts fit, and stay on the stack.
const hashBufferSize = 2048

// digest returns the start of the hash of a text, as hexadecimal digits.
func digest(text []byte, digits int) string {
	var all [2 * sha256.Size]byte
	sum := sha256.Sum256(text)
	hex.Encode(all[:], sum[:])
	return string(all[:digits])
}

// exact returns arguments with each number in one form: 100, 100.0 and 1e2 are the same. Calls of a tool are
// equal if their exact arguments are. recorded is [Call.Exact].
func exact(arguments, recorded []byte) []byte {
	if len(recorded) > 0 {
		return recorded
	}
	return canon.Decimals(arguments)
}

// exact returns the arguments of the call in the form of [exact].
func (c *Call) exact() []byte { return exact(c.Arguments, c.Exact) }

// signature identifies a failure for the no-progress check: action, proposal (canonical arguments), class and
// issues.
func signature(action, proposal string, f fault.Failure) string {
	text := append([]byte(action), 0)
	text = append(append(text, proposal...), 0)
	text = append(append(text, f.Class...), 0)
	for n := range f.Issues {
		text = append(text, f.Issues[n].ID()...)
	}
	return digest(text, signatureLen)
}

// idempotencyKey hashes session, request, number of the action in its run, tool, index among identical calls
// of the reply, and canonical arguments with numbers in one form.
func (st *State) idempotencyKey(action int, tool string, twins int, arguments []byte) string {
	text := st.appendRequest(appendPart(make([]byte, 0, hashBufferSize), st.Session.ID()))
	text = appendPart(appendPart(text, strconv.Itoa(action)), tool)
	return digest(appendPart(appendPart(text, strconv.Itoa(twins)), arguments), keyLen)
}

// placeOf names a call within its session: run, turn and number of the call. A call that repeats one in doubt
// has the place and the key of that call.
func (st *State) placeOf(c *BatchCall) string {
	return cmp.Or(c.First, placeIn(st.Run, st.Turn, c.Index))
}

// longestID is the most bytes of the id of a session.
const longestID = 128

// Child returns the id and the seed of the session of a run within a call of the current reply, by the index
// of the call: those of this session, and run, turn and number of the call ("trip-7.1.2.1"). The same call
// made again has the same. A long id is replaced by its digest. It panics if there is no such call.
func (st State) Child(call int) (id, seed string) {
	place := st.placeOf(st.Batch.Calls[call])
	return childID(st.Session.ID(), place), st.Seed() + "." + place
}

// ChildID returns the id of [State.Child] by the session, run and turn of the call and its index in the
// reply, for those who read records. A call that repeats one in doubt has the id of that one instead.
func ChildID(session string, run, turn, call int) string {
	return childID(session, placeIn(run, turn, call))
}

// DigestID returns what the ids of [State.Child] have in the place of a session's id that is too long.
func DigestID(session string) string { return digest([]byte(session), keyLen) }

// Outer reverses [State.Child]: it returns the id, or its [DigestID], of the session in whose call the
// session id was made. It compares the recorded seed, because anybody may have chosen an id of that form. is
// reports whether the session was made so.
func Outer(id, seed string) (outer string, is bool) {
	outer = id
	for range 3 {
		dot := strings.LastIndexByte(outer, '.')
		if dot < 1 {
			return "", false
		}
		if n, err := strconv.Atoi(outer[dot+1:]); err != nil || n < 1 {
			return "", false
		}
		outer = outer[:dot]
	}
	if !strings.HasSuffix(seed, id[len(outer):]) {
		return "", false
	}
	return outer, true
}

func placeIn(run, turn, call int) string { return fmt.Sprintf("%d.%d.%d", run, turn, call+1) }

func childID(session, place string) string {
	if len(session)+1+len(place) > longestID {
		session = DigestID(session)
	}
	return session + "." + place
}

// appendPart appends a text and its length.
func appendPart[T string | []byte](dst []byte, part T) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(part)), 10), ':'), part...)
}

// requestMessages is the most messages that identify the request of a run: the last ones when it begins.
const requestMessages = 8

// appendRequest appends what identifies the run's request in its session: its id, or the digest of what was
// said last when the run began.
func (st *State) appendRequest(b []byte) []byte {
	if id := st.Config.RequestID; id != "" {
		return appendPart(append(b, "id:"...), id)
	}
	b = strconv.AppendInt(append(b, "said:"...), int64(st.Began), 10)
	return append(append(b, ':'), st.asked[:]...)
}

// digestRequest sets the digest of what was said last when the run began. A digest of the whole conversation
// would take longer with each run.
func (st *State) digestRequest() {
	if st.Config.RequestID != "" {
		return
	}
	var text []byte
	all := make([]byte, 0, hashBufferSize)
	said := st.transcript.From(max(0, st.Began-requestMessages))[:min(requestMessages, st.Began)]
	for n := range said {
		declared, err := canon.AppendDeclared(text[:0], &said[n])
		if err != nil { // not UTF-8, so it cannot be recorded
			declared = fmt.Append(text[:0], said[n])
		}
		text = declared
		all = appendPart(all, text)
	}
	st.asked = sha256.Sum256(all)
}
