package result

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// OneShot is the output of an agent with a single turn. Its result is never in progress. Its JSON is that of
// the result envelope.
type OneShot[T any] struct {
	Result Result[T]
	// Extra has the unknown members of the document, by JSON Pointer.
	Extra map[string]json.RawMessage
}

// Conversation is an agent's output of one turn of a conversation. Its JSON is that of the result envelope.
type Conversation[T, S any] struct {
	// Reply is for the user, in natural language; it may be empty.
	Reply string
	// State is carried to the next turn.
	State S
	// Result is for the orchestrator.
	Result Result[T]
	// Extra has the unknown members of the document, by JSON Pointer.
	Extra map[string]json.RawMessage
}

// output has the members of either.
type output struct {
	Reply         string
	State, Result json.RawMessage
}

// oneShot and conversation are the documents of both.
type (
	oneShot struct {
		// What the orchestrator is told.
		Result object `json:"result" of:"Result"`
	}
	conversation struct {
		// What the user is told.
		Reply string `json:"reply" of:"Reply"`
		// State to carry to the next turn.
		SessionState json.RawMessage `json:"sessionState,omitzero" of:"State" wire:"null"`
		// What the orchestrator is told.
		Result object `json:"result" of:"Result"`
	}
)

// MarshalJSON writes {"result": …}.
func (o OneShot[T]) MarshalJSON() ([]byte, error) {
	if o.Result.Status == StatusInProgress {
		return nil, invalid("", notInProgress)
	}
	result, err := Encode(ResultEnvelope, o.Result)
	if err != nil {
		return nil, err
	}
	return writeOutput(oneShot{}, &output{Result: result}, o.Extra)
}

// UnmarshalJSON reads {"result": …}. Errors are as those of [Decode].
func (o *OneShot[T]) UnmarshalJSON(doc []byte) error {
	_, r, extra, err := readOutput[T](oneShot{}, doc)
	if err != nil {
		return err
	}
	if r.Status == StatusInProgress {
		return invalid(ResultEnvelope, notInProgress)
	}
	*o = OneShot[T]{Result: r, Extra: extra}
	return nil
}

var notInProgress = fault.Issue{
	Pointer: "/result/status", Rule: "enum",
	Expected: `"success" or "error", as a single turn is not in progress`,
	Got:      fault.String, Value: `"in-progress"`, Source: fault.FromRules,
}

// MarshalJSON writes reply, sessionState and result.
func (o Conversation[T, S]) MarshalJSON() ([]byte, error) {
	result, err := Encode(ResultEnvelope, o.Result)
	if err != nil {
		return nil, err
	}
	out := &output{Reply: o.Reply, Result: result}
	if raw, ok := any(o.State).(json.RawMessage); !ok || raw != nil {
		if out.State, err = canon.Marshal(o.State); err != nil {
			return nil, invalid("", ruled("/sessionState", "type", "state that has a JSON form"))
		}
	}
	return writeOutput(conversation{}, out, o.Extra)
}

// UnmarshalJSON reads reply, sessionState and result. Errors are as those of [Decode].
func (o *Conversation[T, S]) UnmarshalJSON(doc []byte) error {
	out, r, extra, err := readOutput[T](conversation{}, doc)
	if err != nil {
		return err
	}
	read := Conversation[T, S]{Reply: out.Reply, Result: r, Extra: extra}
	if out.State != nil {
		if err := canon.Unmarshal(out.State, &read.State); err != nil {
			return invalid(ResultEnvelope, misfit("/sessionState", out.State, err))
		}
	}
	*o = read
	return nil
}

func writeOutput(wire any, out *output, extra map[string]json.RawMessage) ([]byte, error) {
	doc := document{}
	fields := fieldsOf(membersOf(reflect.TypeOf(wire), reflect.TypeFor[output](), ""), out, "")
	for _, f := range fields {
		if v := f.write(); v != nil {
			doc.put(f.ptr, v)
		}
	}
	doc.complete(fields)
	for _, pointer := range canon.Keys(extra) {
		v, err := canon.JSON(extra[pointer])
		if err != nil || !strings.HasPrefix(pointer, "/") {
			return nil, invalid("", unstrict(pointer, fault.RuleSyntax, "strict JSON at a JSON Pointer"))
		}
		if v = scrubAt(pointer, v); v != nil && doc.get(pointer) == nil {
			doc.put(pointer, v)
		}
	}
	return rendered(doc), nil
}

// readOutput reads an output: its members, its result and its unknown members.
func readOutput[T any](wire any, doc []byte) (*output, Result[T], map[string]json.RawMessage, error) {
	var none Result[T]
	members, err := parse(ResultEnvelope, doc)
	if err != nil {
		return nil, none, nil, err
	}
	out := &output{}
	all := membersOf(reflect.TypeOf(wire), reflect.TypeFor[output](), "")
	r := &reading{spec: specs[0], doc: members, known: pointersOf(all), into: &core{}}
	r.walk(r.doc, "")
	for _, f := range fieldsOf(all, out, "") {
		r.take(f)
	}
	if isNull(r.doc.get("/result")) && len(r.issues) == 0 {
		r.fail(ruled("/result", "required", "object"))
	}
	if len(r.issues) > 0 {
		return nil, none, nil, invalid(ResultEnvelope, r.issues...)
	}
	inner, err := Decode[T](ResultEnvelope, out.Result)
	if at, ok := err.(*InvalidError); ok {
		for i := range at.Issues {
			at.Issues[i].Pointer = "/result" + at.Issues[i].Pointer
		}
	}
	return out, inner, r.into.Extra[ResultEnvelope], err
}
