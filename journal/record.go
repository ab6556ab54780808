package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// format is the name and version of the journal format, and formats what all versions begin with.
const (
	formats = "retake.journal/"
	format  = formats + "1"
)

// Record is one line of a journal. Exactly one of its fields is set.
type Record struct {
	Header   *Header        `json:"header,omitempty"`
	Event    *machine.Event `json:"event,omitempty"`
	Decision *Decision      `json:"decision,omitempty" redact:"keep"`
	Note     *Note          `json:"note,omitempty"`
	Snapshot *snapshot      `json:"snapshot,omitempty" redact:"keep"`
}

// Header begins a run. It has everything that the core needs to fold the run without the user's code.
type Header struct {
	// Format is the name and version of the journal format: "retake.journal/1".
	Format string `json:"format" redact:"keep"`
	// Session is the correlation id.
	Session string `json:"session" redact:"keep"`
	// Config has the seed, the templates, and the policy with the places where its values were written.
	Config machine.Config `json:"config"`
	// Tools are the tools of the run. Output is the digest of the schema of the answer; empty if any text is
	// accepted.
	Tools  []Tool `json:"tools,omitempty" redact:"keep"`
	Output string `json:"output,omitempty" redact:"keep"`
	// Held is the number of messages of the conversation that the run continues: all in the journal. It is 0
	// if the run records its history itself.
	Held int `json:"held,omitempty"`
	// State is the snapshot of the session when the run began; absent if the journal has it already.
	State json.RawMessage `json:"state,omitempty" redact:"keep"`
	// Redaction is set if parts of what follows were left out.
	Redaction *redacted `json:"redaction,omitempty" redact:"keep"`
	// Compacted is set if a snapshot replaces what was before.
	Compacted *Compacted `json:"compacted,omitempty" redact:"keep"`
}

// Seed returns the seed of the run's jitter: that of the config, else the session's id.
func (h *Header) Seed() string { return cmp.Or(h.Config.Seed, h.Session) }

// Policies returns what the policies of the run apply to: the answer or the single action, the transport
// plane, and each tool that has a layer of its own for its calls, in order of name. Those with a layer for
// failed runs of their calls are last; the tries of a single action have none.
func (h *Header) Policies() []policy.Target {
	all := []policy.Target{{Tool: h.Config.Action}, {Plane: fault.Transport}}
	for _, name := range canon.Keys(h.Config.Policy.Tools) {
		if name != h.Config.Action {
			all = append(all, policy.Target{Tool: name})
		}
	}
	if h.Config.Single {
		return all
	}
	for _, name := range canon.Keys(h.Config.Policy.ToolTransport) {
		all = append(all, policy.Target{Plane: fault.Transport, Tool: name})
	}
	return all
}

// Tool is a tool of a run, with the digests of the JSON Schema of its arguments and of its description; see
// [SchemaDigest].
type Tool struct {
	Name   string `json:"name"`
	Schema string `json:"schema"`
	// Description is empty if the tool has none.
	Description string `json:"description,omitempty"`
}

// redacted says how a journal was redacted. It never contains the secret key.
type redacted struct {
	// KeyID is the digest of the secret key; empty if there is none.
	KeyID string `json:"key_id,omitempty"`
}

// Compacted says what a snapshot replaces.
type Compacted struct {
	// Records is the number of lines, and Hash the hash of the last.
	Records int64  `json:"records"`
	Hash    string `json:"hash"`
}

// Decision is the core's answer to one event.
type Decision struct {
	Effects []machine.Effect `json:"effects,omitempty"`
	// Said are the messages that were added to the conversation.
	Said []message.Message `json:"said,omitempty"`
	// Prompt is the digest of the whole prompt, if the last effect calls the model.
	Prompt string `json:"prompt,omitempty"`
}

// snapshot is the state of a run when its journal was compacted.
type snapshot struct {
	// State is [machine.State.Snapshot]. Asked is the current effect, if the run continues.
	State json.RawMessage `json:"state"`
	Asked *machine.Effect `json:"asked,omitempty"`
	// Said is the digest of the conversation so far, and Cuts that of what prompts leave out of it.
	Said string `json:"said"`
	Cuts string `json:"cuts,omitempty"`
	// Since is when the last run began.
	Since time.Time `json:"since,omitzero"`
	// Notes are those of the current calls: tools that began, and results that wait for their turn;
	// and forms, if people are asked.
	Notes []Note `json:"notes,omitempty"`
	// Adjusted is the last layer that adjusted the policy, or nil.
	Adjusted *policy.Layer `json:"adjusted,omitempty"`
	// Ended are the ends of all actions and requests with an ID, in order.
	Ended []Ended `json:"ended,omitempty"`
	// InDoubt reports that a run ended with calls whose effect nobody knows.
	InDoubt bool `json:"in_doubt,omitempty"`
}

// NoteKind names what a [Note] is about.
type NoteKind string

// The kinds of notes, and the field of [Note] that each uses.
const (
	// ToolBegan: a tool is about to run (Key, Transport, Tool). After a crash it may or may not have had an
	// effect.
	ToolBegan NoteKind = "began"
	// ResultLanded: a tool's result came before its turn, or after its run was left (Key, Transport, End,
	// Events).
	ResultLanded NoteKind = "landed"
	// Progressed: a tool reported progress (Key, Tool, Progress).
	Progressed NoteKind = "progress"
	// Resumed: a run was resumed (Resumed).
	Resumed NoteKind = "resumed"
	// Torn: the last line was torn (Torn).
	Torn NoteKind = "torn"
	// MaybePaid: a call's outcome was lost, and it may have been paid for (Text).
	MaybePaid NoteKind = "maybe_paid"
	// Undelivered: an item of the inbox fitted nothing, and was removed (Text).
	Undelivered NoteKind = "undelivered"
	// AskForm: what the arguments of a tool have to be, of whose calls a person is asked (Tool, Schema). It
	// is there once in a run.
	AskForm NoteKind = "form"
)

// Note is what happened beside a run.
type Note struct {
	Kind NoteKind `json:"kind"`
	// At is the time by the driver's clock.
	At time.Time `json:"at,omitzero"`
	// Key, Transport and Tool are those of the call: see [machine.ToolRun].
	Key       string `json:"key,omitempty" redact:"keep"`
	Transport int    `json:"transport,omitempty"`
	Tool      string `json:"tool,omitempty" redact:"keep"`
	// End is a tool's outcome before reducers have run. Events are those that the tool emitted.
	End    *machine.ToolEnd `json:"end,omitempty"`
	Events []session.Event  `json:"events,omitempty"`
	// Progress is what a tool reported.
	Progress json.RawMessage `json:"progress,omitempty" redact:"text"`
	// Resumed is the effect that was current.
	Resumed machine.EffectKind `json:"resumed,omitempty" redact:"keep"`
	// Torn is the beginning of the torn line.
	Torn []byte `json:"torn,omitempty" redact:"keep"`
	Text string `json:"text,omitempty" redact:"keep"`
	// Schema is the JSON Schema of a tool's arguments.
	Schema json.RawMessage `json:"schema,omitempty" redact:"keep"`
}

// decode decodes a record: exactly one member of a known kind.
func decode(raw []byte) (Record, error) {
	var rec Record
	if err := canon.UnmarshalKnown(raw, &rec); err != nil {
		if later := knownFormat(formatIn(raw)); errors.Is(later, ErrDiffers) { // its members may be new, too
			return Record{}, later
		}
		return Record{}, fmt.Errorf("its record cannot be read: %w", err)
	}
	members := []bool{
		rec.Header != nil, rec.Event != nil, rec.Decision != nil, rec.Note != nil, rec.Snapshot != nil,
	}
	if n := len(slices.DeleteFunc(members, func(there bool) bool { return !there })); n != 1 {
		return Record{}, errors.New("its record must have one of header, event, decision, note, snapshot")
	}
	if h := rec.Header; h != nil {
		if err := knownFormat(h.Format); err != nil {
			return Record{}, err
		}
	}
	if n := rec.Note; n != nil && n.Kind == ResultLanded && n.End == nil {
		return rec, errors.New("its note is of a result that landed, without the end of the call")
	}
	return rec, rec.checkEffects()
}

// knownFormat returns an error for a journal of another format.
func knownFormat(name string) error {
	switch {
	case name == format:
		return nil
	case strings.HasPrefix(name, formats):
		return kindError{fmt.Errorf("its format is %.64q, which a later version writes: this one reads %q", name,
			format), ErrDiffers}
	}
	return fmt.Errorf("its format is %.64q: only %q can be read", name, format)
}

// formatIn returns the format that the header in a record names, whatever else it has; empty for none.
func formatIn(raw []byte) string {
	var rec struct {
		Header struct {
			Format string `json:"format"`
		} `json:"header"`
	}
	_ = canon.Unmarshal(raw, &rec) // what cannot be read has none
	return rec.Header.Format
}

// payload reports whether an effect has the payload of its kind, and whether the kind is known. Readers that
// do not fold a journal rely on it.
func payload(e *machine.Effect) (there, known bool) {
	switch e.Kind {
	case machine.Decided:
		return e.Decision != nil, true
	case machine.CallModel, machine.MakePrompt, machine.EstimateCall:
		return e.Model != nil, true
	case machine.AskGrant:
		return e.Grant != nil, true
	case machine.RunTools:
		return len(e.Tools) > 0, true
	case machine.TryAction:
		return e.Try != nil, true
	case machine.WaitUntil:
		return e.Wait != nil, true
	case machine.AskPlanner:
		return e.Question != nil, true
	case machine.AskPerson:
		return len(e.Asks) > 0, true
	case machine.AskSettled:
		return e.Settled != nil, true
	case machine.Reduce:
		return true, true
	case machine.Shorten:
		return e.Shorten != nil, true
	case machine.Summarise:
		return e.Summary != nil, true
	case machine.Stop:
		return e.Outcome != nil, true
	}
	return false, false
}

// checkEffects returns an error for an effect of an unknown kind or without its payload.
func (rec *Record) checkEffects() error {
	var all []machine.Effect
	switch {
	case rec.Decision != nil:
		all = rec.Decision.Effects
	case rec.Snapshot != nil && rec.Snapshot.Asked != nil:
		all = []machine.Effect{*rec.Snapshot.Asked}
	}
	for n := range all {
		there, known := payload(&all[n])
		if !known {
			return fmt.Errorf("effect %d of its record has the unknown kind %.64q", n+1, string(all[n].Kind))
		}
		if !there {
			return fmt.Errorf("effect %d of its record is %q without its payload", n+1, string(all[n].Kind))
		}
	}
	return nil
}
