package journal

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// A text that is too long, or that looks like a mark, is left out wherever it stands.
func TestALongTextIsLeftOutEverywhere(t *testing.T) {
	const long = "a text of more than ten bytes"
	issues := []fault.Issue{{Pointer: "/" + long, Expected: long, Value: long, Sent: long}}
	reduced := machine.Reduced{Ops: []reducer.Op{{Values: []json.RawMessage{json.RawMessage(`{"a":["` + long + `"]}`)}}}}
	failure := fault.Failure{Class: fault.Network, Message: long, Issues: issues}
	for name, ev := range map[string]machine.Event{
		"reductions":           {Reductions: []machine.Reduced{reduced}},
		"failure":              {Failure: &failure},
		"try reduced":          {Try: &machine.Try{Reduced: &reduced}},
		"try failure":          {Try: &machine.Try{Failure: failure}},
		"tool failure":         {Tool: &machine.ToolEnd{Failure: &failure}},
		"issues of a call":     {Reply: &machine.Reply{Calls: []machine.Call{{Tool: "pay", Issues: issues}}}},
		"issues of the answer": {Reply: &machine.Reply{Answer: &machine.Answer{Issues: issues}}},
		"name of a tool":       {Reply: &machine.Reply{Native: true, Calls: []machine.Call{{Tool: long, Class: fault.UnknownTool}}}},
		"parts of a result":    {Tool: &machine.ToolEnd{Parts: []message.Part{{Kind: message.TextPart, Text: long}}}},
	} {
		t.Run(name, func(t *testing.T) {
			rules := &Redaction{MaxBytes: 10}
			left, err := rules.redactor(t.Context(), "s").event(ev, &machine.State{Config: &machine.Config{}}, []Tool{{Name: "pay"}})
			require.NoError(t, err)
			raw, err := canon.Marshal(left)
			require.NoError(t, err)
			assert.NotContains(t, string(raw), long)
		})
	}
}

// The history of a run has what a model said: its words, its thoughts, and what it was told of them.
func TestRepliesAreLeftOutOfAHistory(t *testing.T) {
	ev := machine.Event{Kind: machine.Started, Messages: []message.Message{
		{Role: message.User, Text: "Go."},
		{Role: message.Assistant, Text: "S3CR3T", Opaque: "S3CR3T", Calls: []message.Call{{ID: "1", Name: "pay", Arguments: `"S3CR3T"`}}},
		{Role: message.Tool, CallID: "1", Name: "pay", Text: "S3CR3T is wrong", IsError: true},
		{Role: message.User, Text: "Go on."},
	}}
	left, err := (&Redaction{Replies: true}).redactor(t.Context(), "s").event(ev, &machine.State{Config: &machine.Config{}}, []Tool{{Name: "pay"}})
	nothingStays(t, left, err)
	assert.Equal(t, "Go on.", left.Messages[3].Text)
}

// A model may write its answer beside the calls that it still makes. Nobody reads it there, so all of it is
// left out; words that cannot be an answer stay.
func TestAnAnswerBesideCallsIsLeftOut(t *testing.T) {
	rules := &Redaction{Answer: []string{"/card"}}
	for text, stays := range map[string]bool{
		`{"card":"S3CR3T"}`: false, "That is ```json\n[\"S3CR3T\"]\n```": false, "I look it up.": true,
	} {
		ev := machine.Event{Kind: machine.Replied, Reply: &machine.Reply{
			Native:  true,
			Message: message.Reply{Text: text, Calls: []message.Call{{ID: "1", Name: "pay", Arguments: `{}`}}},
			Calls:   []machine.Call{{Tool: "pay"}},
		}}
		left, err := rules.redactor(t.Context(), "s").event(ev, &machine.State{Config: &machine.Config{}}, []Tool{{Name: "pay"}})
		require.NoError(t, err)
		assert.Equal(t, stays, left.Reply.Message.Text == text, text)
		assert.NotContains(t, left.Reply.Message.Text, "S3CR3T")
	}
}

// Values of the named slices are left out wherever a reducer's result stands, and of no other slice.
func TestNamedSlicesAreLeftOutEverywhere(t *testing.T) {
	reduced := machine.Reduced{Ops: []reducer.Op{
		{Slice: "cart", Kind: reducer.OpAppend, Values: []json.RawMessage{json.RawMessage(`"S3CR3T"`)}},
		{Slice: "total", Kind: reducer.OpAppend, Values: []json.RawMessage{json.RawMessage(`"stays"`)}},
	}}
	r := (&Redaction{Slices: []string{"cart"}}).redactor(t.Context(), "s")
	before := &machine.State{Config: &machine.Config{}, Batch: &machine.Batch{Calls: []*machine.BatchCall{{}}}}
	for name, ev := range map[string]machine.Event{
		"reduced":    {Reduced: &reduced},
		"reductions": {Reductions: []machine.Reduced{{}, reduced}},
		"try":        {Try: &machine.Try{Reduced: &reduced}},
		"tool":       {Tool: &machine.ToolEnd{Reduced: &reduced}},
		"answer":     {Reply: &machine.Reply{Answer: &machine.Answer{Reduced: &reduced}}},
	} {
		left, err := r.event(ev, before, nil)
		nothingStays(t, left, err)
		raw, err := canon.Marshal(left)
		require.NoError(t, err)
		assert.Contains(t, string(raw), `"stays"`, name)
	}
	looks := mark{Digest: strings.Repeat("0", 32), Bytes: 7}.String()
	_, is := parseMark(looks)
	require.True(t, is, looks)
	unknown := machine.Event{Reply: &machine.Reply{Native: true, Calls: []machine.Call{
		{Tool: "payy", Class: fault.UnknownTool}, {Tool: looks, Class: fault.UnknownTool},
	}}}
	named, err := r.event(unknown, before, nil)
	require.NoError(t, err)
	assert.Equal(t, "payy", named.Reply.Calls[0].Tool, "no rule leaves it out")
	assert.NotEqual(t, looks, named.Reply.Calls[1].Tool, "it could be mistaken for what was left out")
	raw := []byte(`{"format":"retake.session/1","id":"s","slices":[{"name":"cart","kind":"log","values":["S3CR3T"]},{"name":"total","kind":"log","values":["stays"]}]}`)
	left, err := r.state(raw, &Header{})
	nothingStays(t, json.RawMessage(left), err)
	assert.Contains(t, string(left), `"stays"`)
}

// The name of a member that is not allowed may be the value that is left out, and so may the name of a tool
// that does not exist. Tools that are offered, or that the config names, keep their names.
func TestNamesThatTheModelInventedAreLeftOut(t *testing.T) {
	r := (&Redaction{Tools: map[string]ToolRedaction{"pay": {Arguments: []string{"/card"}}}}).redactor(t.Context(), "s")
	config := &machine.Config{Policy: policy.DefaultSet(), Action: "ship"}
	config.Policy.Tools = map[string]policy.Layer{"look": {}}
	for _, issue := range []fault.Issue{
		{Pointer: "/S3CR3T", Rule: "additionalProperties", Source: fault.FromSchema},
		{Pointer: "/S3CR3T", Rule: "propertyNames", Source: fault.FromSchema},
		{Pointer: "/S3CR3T", Rule: fault.RuleDuplicateKey, Source: fault.FromJSON},
		{Pointer: "/card/S3CR3T", Rule: "type", Source: fault.FromSchema},
	} {
		arguments := `{"S3CR3T":"S3CR3T","amount":"stays","n":1e2}`
		if strings.HasPrefix(issue.Pointer, "/card") {
			arguments = `{"card":{"S3CR3T":1},"amount":"stays","n":1e2}`
		}
		ev := machine.Event{Kind: machine.Replied, Reply: &machine.Reply{Native: true, Calls: []machine.Call{
			{Tool: "pay", Class: fault.ToolValidation, Arguments: json.RawMessage(arguments), Issues: []fault.Issue{issue}},
			{Tool: "S3CR3T", Class: fault.UnknownTool}, {Tool: "look"}, {Tool: "ship"},
		}}}
		left, err := r.event(ev, &machine.State{Config: config}, []Tool{{Name: "pay"}})
		nothingStays(t, left, err)
		assert.Empty(t, ev.Reply.Calls[0].Exact, "the event of the run is as it was")
		assert.Contains(t, string(left.Reply.Calls[0].Arguments), `"amount":"stays"`)
		assert.Equal(t, []string{"pay", "look", "ship"}, []string{left.Reply.Calls[0].Tool, left.Reply.Calls[2].Tool, left.Reply.Calls[3].Tool})
	}
}

// A schema that allows further members lets a model write a name in another case.
func TestASecretUnderItsNameInAnotherCaseIsLeftOut(t *testing.T) {
	r := (&Redaction{Tools: map[string]ToolRedaction{"pay": {Arguments: []string{"/card/pin"}, Result: []string{"/Token"}}}}).redactor(t.Context(), "s")
	tools := []Tool{{Name: "pay"}}
	ev := machine.Event{Kind: machine.Replied, Reply: &machine.Reply{Native: true, Calls: []machine.Call{{
		Tool: "pay", Arguments: json.RawMessage(`{"CARD":{"pin":"S3CR3T","\u212a":1},"card":{"PIN":"S3CR3T","pin":"S3CR3T","pins":"stays"}}`),
	}}}}
	left, err := r.event(ev, &machine.State{Config: &machine.Config{}}, tools)
	nothingStays(t, left, err)
	assert.Contains(t, string(left.Reply.Calls[0].Arguments), `"pins":"stays"`)
	p := new(places)
	p.add("", "/token")
	assert.True(t, p.has([]string{"to\u212aen"}), "the sign of Kelvin is a k to encoding/json")
}

// Types of text with a fixed set of values, which need no tag.
var words = []reflect.Type{
	reflect.TypeFor[machine.EventKind](), reflect.TypeFor[machine.Verdict](), reflect.TypeFor[machine.PlanKind](),
	reflect.TypeFor[machine.Behaviour](), reflect.TypeFor[message.Role](), reflect.TypeFor[message.PartKind](),
	reflect.TypeFor[message.FinishReason](), reflect.TypeFor[fault.Class](), reflect.TypeFor[fault.Plane](),
	reflect.TypeFor[fault.Kind](), reflect.TypeFor[fault.Source](), reflect.TypeFor[extract.Form](),
	reflect.TypeFor[policy.Reason](), reflect.TypeFor[reducer.OpKind](), reflect.TypeFor[session.Kind](),
	reflect.TypeFor[feedback.Source](), reflect.TypeFor[NoteKind](),
}

var whats = []fieldContent{
	isKept, isText, isDocument, isPrompt, isRemark, isName, isIssue, isSent, isValue, isRefused,
}

// A text that nobody thought of would stand in every redacted journal.
func TestEveryRecordedFieldSaysWhatItIs(t *testing.T) {
	fields := 0
	var walk func(t *testing.T, name string, of reflect.Type)
	walk = func(t *testing.T, name string, of reflect.Type) {
		switch {
		case of.Kind() == reflect.Pointer, of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8:
			walk(t, name, of.Elem())
		case of.Kind() == reflect.Struct && of != reflect.TypeFor[time.Time]():
			for n := range of.NumField() {
				f := of.Field(n)
				tag, tagged := f.Tag.Lookup("redact")
				if tagged {
					fields++
					assert.Contains(t, whats, fieldContent(tag), "%s.%s", of, f.Name)
				} else if f.Tag.Get("json") != "-" && f.IsExported() {
					walk(t, of.String()+"."+f.Name, f.Type)
				}
			}
		case slices.Contains([]reflect.Kind{reflect.String, reflect.Slice, reflect.Map, reflect.Interface}, of.Kind()):
			assert.Contains(t, words, of, "%s is a text: give it a tag redact, with what it holds, or keep", name)
		}
	}
	walk(t, "", reflect.TypeFor[Record]())
	walk(t, "", reflect.TypeFor[wireState]())
	assert.Greater(t, fields, 80)
}

// With every rule nothing stays of a text from outside, wherever its type is used.
func TestWithEveryRuleNoTextStays(t *testing.T) {
	rules := &Redaction{
		Tools: map[string]ToolRedaction{"*": {Arguments: []string{""}, Result: []string{""}}}, Answer: []string{""},
		Slices: []string{""}, Prompts: true, Replies: true,
	}
	r := rules.redactor(t.Context(), "s")
	var ev machine.Event
	var note Note
	var state wireState
	header := Header{Config: machine.Config{Policy: policy.DefaultSet()}}
	for _, at := range []any{&ev, &note, &state, &header} {
		require.Positive(t, fill(reflect.ValueOf(at).Elem(), isKept))
	}
	ev.Messages[0].Role = message.Assistant
	for _, own := range []*string{ // the program's own words
		&ev.Tool.Failure.Tool, &ev.Try.Failure.Tool, &note.End.Failure.Tool,
		&ev.Reply.Calls[0].Issues[0].Expected, &ev.Reply.Answer.Issues[0].Expected,
	} {
		*own = "kept"
	}
	before := &machine.State{Config: &machine.Config{}, Batch: &machine.Batch{Calls: []*machine.BatchCall{{}}}}
	left, err := r.event(ev, before, nil)
	nothingStays(t, left, err)
	n, err := r.note(note, "pay")
	nothingStays(t, n, err)
	h, err := r.header(header)
	nothingStays(t, h, err)
	raw, err := canon.Marshal(state)
	require.NoError(t, err)
	for _, p := range inState {
		assert.True(t, has(t, raw, p.pointer), "the wire form has no %s", p.pointer)
	}
	raw, err = r.state(raw, &Header{})
	nothingStays(t, json.RawMessage(raw), err)
}

// The state of a session that a redacted journal begins with may have everything.
func TestAStateWithEverythingIsRedacted(t *testing.T) {
	s, err := session.NewState("order-42")
	require.NoError(t, err)
	s = s.AddRun().AddCharge(policy.Charge{Cost: 7, Estimated: 1}).AddSuccesses("pay", 1).AddApproved("pay").WithMaxReply("m", 4096)
	raw, err := s.Snapshot()
	require.NoError(t, err)
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &members))
	assert.Len(t, members, reflect.TypeFor[wireState]().NumField(), "the wire forms have the same members")
	left, err := (&Redaction{Slices: []string{""}}).redactor(t.Context(), "s").state(raw, &Header{})
	require.NoError(t, err)
	assert.JSONEq(t, string(raw), string(left))
}

func nothingStays(t *testing.T, left any, err error) {
	t.Helper()
	require.NoError(t, err)
	raw, err := canon.Marshal(left)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "S3CR3T")
}

// has reports whether a document has a value at a pointer.
func has(t *testing.T, document []byte, pointer string) bool {
	found, p := false, new(places)
	p.add("", pointer)
	w := masked.Rewriter{Value: func(at []string, _ jsontext.Value, _ string) ([]byte, error) {
		found = found || p.has(at)
		return nil, nil
	}}
	_, err := w.Rewrite(document)
	require.NoError(t, err)
	return found
}

// fill sets all fields of a value: tagged ones to a secret, lists to one item. Remarks are only bounded. It
// returns the number of secrets.
func fill(v reflect.Value, is fieldContent) (secrets int) {
	text := "kept"
	if is != isKept && is != isRemark {
		text, secrets = "S3CR3T", 1
	}
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(strconv.Quote(text)))
	case v.Type() == reflect.TypeFor[fault.Class]():
		v.SetString(string(fault.UnknownTool))
	case v.Type() == reflect.TypeFor[feedback.Source]():
		v.SetString(string(feedback.Tool))
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Int:
		v.SetInt(0)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), is)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), is)
	case v.Kind() == reflect.Map:
		one := reflect.New(v.Type().Elem()).Elem()
		secrets = fill(one, is)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("own").Convert(v.Type().Key()), one)
	case v.Type() == reflect.TypeFor[feedback.RetryFeedback]():
		secrets = fillFields(v)
		v.FieldByName("Attempt").SetInt(1)
		v.FieldByName("MaxAttempts").SetInt(1)
		v.FieldByName("Schedule").SetZero()
		return secrets
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		return fillFields(v)
	default:
		return 0
	}
	return secrets
}

func fillFields(v reflect.Value) (secrets int) {
	for n := range v.NumField() {
		f := v.Type().Field(n)
		tag, tagged := f.Tag.Lookup("redact")
		switch {
		case !f.IsExported(), f.Tag.Get("json") == "-", tag == string(isKept):
		case tagged:
			secrets += fill(v.Field(n), fieldContent(tag))
		default:
			secrets += fill(v.Field(n), isKept)
		}
	}
	return secrets
}
