package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-playground/validator/v10"
	google "github.com/google/jsonschema-go/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/schema"
)

var (
	sinkOrder work.Order
	sinkText  string
	errExtra  = errors.New("there is more after the value")
)

// checker reads and checks one document. It returns the text of the faults; empty for none.
type checker struct {
	name  string
	check func(doc []byte) string
}

// BenchmarkCheckGood decodes bytes into a checked struct.
func BenchmarkCheckGood(b *testing.B) {
	for _, c := range append(typed(b), frameworks(b)...) {
		b.Run(c.name, func(b *testing.B) { accepts(b, c) })
	}
}

// BenchmarkCheckBad finds three faults and names them in a text for the model.
func BenchmarkCheckBad(b *testing.B) {
	for _, c := range append(append(typed(b), raw(b)[0]), frameworks(b)...) {
		b.Run(c.name, func(b *testing.B) { refuses(b, c) })
	}
}

// BenchmarkCheckRaw checks the same document against its JSON Schema, without a Go type.
func BenchmarkCheckRaw(b *testing.B) {
	for _, c := range raw(b) {
		b.Run(c.name, func(b *testing.B) { accepts(b, c) })
	}
}

func accepts(b *testing.B, c checker) {
	doc := work.GoodOrder()
	b.ReportAllocs()
	for b.Loop() {
		if text := c.check(doc); text != "" {
			b.Fatal(text)
		}
	}
}

func refuses(b *testing.B, c checker) {
	doc := work.BadOrder()
	b.ReportAllocs()
	for b.Loop() {
		if sinkText = c.check(doc); sinkText == "" {
			b.Fatal("accepted")
		}
	}
}

func typed(t testing.TB) []checker {
	order, err := schema.For[work.Order]()
	require.NoError(t, err)
	v := work.Validator()
	return []checker{
		{"floor", byHand},
		{"ours", func(doc []byte) string {
			o, issues := order.Decode(doc)
			sinkOrder = o
			return told(issues)
		}},
		{"jsonv2_validator", func(doc []byte) string {
			var o work.Order
			err := jsonv2.Unmarshal(doc, &o, jsonv2.RejectUnknownMembers(true))
			return validated(v, &o, err)
		}},
		{"std_validator", func(doc []byte) string {
			var o work.Order
			err := json.Unmarshal(doc, &o)
			return validated(v, &o, err)
		}},
		{"std_strict_validator", func(doc []byte) string {
			var o work.Order
			err := strict(doc, &o)
			return validated(v, &o, err)
		}},
	}
}

func byHand(doc []byte) string {
	o, faults := work.OrderByHand(string(doc))
	if faults == nil {
		sinkOrder = o
		return ""
	}
	text := []byte("The arguments cannot be used:")
	for _, f := range faults {
		text = append(append(append(append(text, "\n- "...), f.Where...), ": "...), f.Want...)
	}
	return string(text)
}

// told is the text about issues for a model.
func told(issues []fault.Issue) string {
	if issues == nil {
		return ""
	}
	f := feedback.New(feedback.Input{
		Tool: "place_order", Attempt: 1, MaxAttempts: 3, Class: fault.ToolValidation, Issues: issues, Scheduled: true,
	})
	return feedback.Render(f, feedback.DefaultLimits())
}

// strict is encoding/json at its strictest. It does not notice duplicate keys.
func strict(doc []byte, o *work.Order) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(o); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errExtra
	}
	return nil
}

// validated checks the rules even after an error of the decoder, because encoding/json continues after a
// value of the wrong type.
func validated(v *validator.Validate, o *work.Order, err error) string {
	text := ""
	if err != nil {
		text = err.Error() + "\n"
	}
	if invalid := v.Struct(o); invalid != nil {
		text += invalid.Error()
	}
	return text
}

func raw(t testing.TB) []checker {
	ours, err := schema.Compile(work.OrderSchema)
	require.NoError(t, err)
	santhosh, googles := compiled(t, work.OrderSchema), resolved(t, work.OrderSchema)
	return []checker{
		{"ours_raw", func(doc []byte) string { return told(ours.Check(doc)) }},
		{"santhosh", func(doc []byte) string {
			tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
			if err == nil {
				err = santhosh.Validate(tree)
			}
			return textOf(err)
		}},
		{"google", func(doc []byte) string {
			var tree any
			err := json.Unmarshal(doc, &tree)
			if err == nil {
				err = googles.Validate(tree)
			}
			return textOf(err)
		}},
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func compiled(t testing.TB, text []byte) *jsonschema.Schema {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("mem:///schema", tree))
	s, err := c.Compile("mem:///schema")
	require.NoError(t, err)
	return s
}

func googleSchema(t testing.TB, text []byte) *google.Schema {
	var s google.Schema
	require.NoError(t, json.Unmarshal(text, &s))
	return &s
}

func resolved(t testing.TB, text []byte) *google.Resolved {
	r, err := googleSchema(t, text).Resolve(nil)
	require.NoError(t, err)
	return r
}

// TestTheSameWork checks that every line accepts the good document and refuses the bad one.
func TestTheSameWork(t *testing.T) {
	for _, c := range append(append(typed(t), raw(t)...), frameworks(t)...) {
		require.Empty(t, c.check(work.GoodOrder()), c.name)
		text := c.check(work.BadOrder())
		require.NotEmpty(t, text, c.name)
		t.Logf("%s: %s", c.name, text)
	}
}
