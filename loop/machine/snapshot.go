package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// snapshotFormat is the name and version of the snapshot format.
const snapshotFormat = "retake.machine/2"

// maxSnapshotBytes is the largest snapshot that [Restore] reads: 128 MiB.
const maxSnapshotBytes = 128 << 20

// snapshot is a State as JSON. The digest says that [State.Snapshot] made it, so its fields are not checked
// one by one.
type snapshot struct {
	Format string          `json:"format"`
	Digest string          `json:"digest"`
	State  json.RawMessage `json:"state"`
}

// stateJSON is the JSON form of a State. It contains the snapshot of the session.
type stateJSON struct {
	State
	inner
	Session    json.RawMessage   `json:"session,omitempty"`
	Transcript []message.Message `json:"transcript,omitempty"`
	Turns      []projection.Turn `json:"turns,omitempty"`
	Failures   []ToolFailure     `json:"tool_failures,omitempty"`
	Doubts     []doubt           `json:"in_doubt,omitempty"`
	Given      []Given           `json:"given,omitempty"`
	Made       []madeCall        `json:"made,omitempty"`
	Recent     []finishedCall    `json:"recent,omitempty"`
	Lately     []CycleCall       `json:"lately,omitempty"`
}

// Snapshot returns the state as canonical JSON, for [Restore]. Equal states give equal bytes. The error names
// what has no JSON form; only data from other programs can have none.
func (st State) Snapshot() ([]byte, error) {
	held, err := st.Session.Snapshot()
	if err != nil {
		return nil, chain.At("session", err)
	}
	w := st.json()
	w.Session, w.Transcript = held, st.Transcript()
	text, err := canon.Marshal(w)
	if err != nil {
		return nil, err
	}
	return seal(text), nil
}

// json returns the JSON form of all but the session and the transcript.
func (st *State) json() *stateJSON {
	return &stateJSON{
		State: *st, inner: st.inner, Turns: st.turns.From(0), Failures: st.ToolFailures(),
		Doubts: st.doubts.From(0), Given: st.Given(), Made: st.inner.made.From(0),
		Recent: st.recent.Values(), Lately: st.shownCalls.Values(),
	}
}

func (w *stateJSON) state(held session.State, said seq.Log[message.Message], compiled *compiled) State {
	st := w.State
	st.inner, st.Session, st.transcript, st.compiled = w.inner, held, said, compiled
	st.failures, st.turns = seq.Of(w.Failures...), seq.Of(w.Turns...)
	st.doubts, st.given, st.inner.made = seq.Of(w.Doubts...), seq.Of(w.Given...), seq.Of(w.Made...)
	st.recent, st.shownCalls = seq.WindowOf(w.Recent...), seq.WindowOf(w.Lately...)
	if st.Policy == nil {
		st.Policy, st.policies = &st.Config.Policy, compiled.policies
	} else {
		st.policies = policiesOf(st.Policy)
	}
	st.digestRequest()
	st.At = st.At.UTC() // equal times are to be equal values
	return st
}

// Packed is a [State] in little memory, for one of many runs that wait for long. It shares the config and the
// texts of messages with other states, and the rest is text of its own.
type Packed struct {
	of   Compiled
	said []message.Message
	text []byte
}

// Pack returns the state in little memory, without its session. The error is that of [State.Snapshot].
func (st State) Pack() (*Packed, error) {
	w := st.json()
	if w.Config = nil; st.Policy == &st.Config.Policy {
		w.Policy = nil // it was not adjusted
	}
	text, err := canon.Marshal(w)
	return &Packed{Compiled{st.Config, st.compiled}, slices.Clone(st.Transcript()), bytes.Clone(text)}, err
}

// State returns the state, with the session that it had.
func (p *Packed) State(held session.State) (State, error) {
	var w stateJSON
	if err := canon.UnmarshalKnown(p.text, &w); err != nil {
		return State{}, err
	}
	w.Config = p.of.cfg
	return w.state(held, seq.Of(p.said...), p.of.compiled), nil
}

// seal returns the snapshot of a state, as [canon.Marshal] would write it. A state may be large, and is
// copied once.
func seal(state []byte) []byte {
	head := `{"digest":"` + digest(state, keyLen) + `","format":"` + snapshotFormat + `","state":`
	return append(append(append(make([]byte, 0, len(head)+len(state)+1), head...), state...), '}')
}

// Reseal returns a snapshot with a new digest, for a journal that puts texts back into the state.
func Reseal(changed []byte) ([]byte, error) {
	s, err := parse(changed)
	if err != nil {
		return nil, err
	}
	return seal(s.State), nil
}

// parse reads a snapshot and makes its state canonical.
func parse(data []byte) (s snapshot, err error) {
	if len(data) > maxSnapshotBytes {
		return s, fmt.Errorf("must have at most %d bytes, has %d", maxSnapshotBytes, len(data))
	}
	text, err := canon.JSON(data)
	if err != nil {
		return s, err
	}
	err = canon.Unmarshal(text, &s)
	return s, err
}

// Restore reads a snapshot. It refuses anything but strict JSON of this format and version, a state that was
// changed since, and more than 128 MiB. The digest is no signature: protect snapshots like journals.
func Restore(data []byte) (State, error) {
	st, err := restore(data)
	return st, chain.At("snapshot", err)
}

func restore(data []byte) (State, error) {
	s, err := parse(data)
	if err != nil {
		return State{}, err
	}
	switch {
	case s.Format != snapshotFormat:
		return State{}, fmt.Errorf("format: must be %q, is %q", snapshotFormat, s.Format)
	case s.Digest != digest(s.State, keyLen):
		return State{}, fmt.Errorf("digest: must be that of the state, is %.64q: the snapshot was changed", s.Digest)
	}
	var w stateJSON
	if err := canon.UnmarshalKnown(s.State, &w); err != nil {
		return State{}, err
	}
	held, err := session.ParseState(w.Session)
	if err != nil {
		return State{}, chain.At("session", err)
	}
	if w.Config == nil {
		return State{}, errors.New("config: missing: the state is of no run")
	}
	if w.Policy == nil {
		return State{}, errors.New("policy: missing: the state is of no run")
	}
	c, err := Compile(w.Config)
	if err != nil {
		return State{}, chain.At("config", err)
	}
	st := w.state(held, seq.Of(w.Transcript...), c.compiled)
	st.Config.Deadline = st.Config.Deadline.UTC()
	return st, nil
}
