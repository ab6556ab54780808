package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/schema"
)

// BenchmarkGoodReply checks a good document of about 1 KB, by a Go type and by a schema. Beside ours is what
// users would write otherwise.
func BenchmarkGoodReply(b *testing.B) {
	doc := orderDocument(b)
	typed, err := schema.For[order]()
	require.NoError(b, err)
	raw, err := schema.Compile(typed.Schema().JSON())
	require.NoError(b, err)
	library, err := compiledAlone(b, typed.Schema().JSON())
	require.NoError(b, err)
	v := validator.New()
	for _, row := range []struct {
		name string
		good func() bool
	}{
		{"typed", func() bool { _, issues := typed.Decode(doc); return issues == nil }},
		{"standard_library_and_validator", func() bool {
			var o order
			return json.Unmarshal(doc, &o) == nil && v.Struct(&o) == nil
		}},
		{"raw_schema", func() bool { return raw.Check(doc) == nil }},
		{"library_alone", func() bool {
			tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
			return err == nil && library.Validate(tree) == nil
		}},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !row.good() {
					b.Fatal("refused")
				}
			}
		})
	}
}

// compiledAlone compiles a schema with the library. The error is that of a schema that it does not take.
func compiledAlone(t testing.TB, text []byte) (*jsonschema.Schema, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:///schema", tree))
	return c.Compile("mem:///schema")
}

// BenchmarkBadReply checks the same document with three faults. All are found, with their places. "told" also
// renders them for the model.
func BenchmarkBadReply(b *testing.B) {
	faults := strings.NewReplacer(`"order",`, `"ordre",`, `"priority":3`, `"priority":"high"`, `"code":"11000"`, `"code":"1100"`)
	doc := []byte(faults.Replace(string(orderDocument(b))))
	typed, err := schema.For[order]()
	require.NoError(b, err)
	raw, err := schema.Compile(typed.Schema().JSON())
	require.NoError(b, err)
	v := validator.New()
	for _, row := range []struct {
		name   string
		faults func() int
	}{
		{"typed", func() int { _, issues := typed.Decode(doc); return len(issues) }},
		{"typed_told", func() int { _, issues := typed.Decode(doc); tell(issues); return len(issues) }},
		{"raw_schema", func() int { return len(raw.Check(doc)) }},
		{"standard_library_and_validator", func() int { return plainFaults(v, doc) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if row.faults() < 3 {
					b.Fatal("accepted")
				}
			}
		})
	}
}

func tell(issues []fault.Issue) string {
	f := feedback.New(feedback.Input{
		Tool: "place_order", Attempt: 1, MaxAttempts: 3, Class: fault.ToolValidation, Issues: issues, Scheduled: true,
	})
	return feedback.Render(f, feedback.DefaultLimits())
}

// plainFaults makes and counts the messages of encoding/json and the validator. A field that encoding/json
// could not read is empty, so the validator counts it again.
func plainFaults(v *validator.Validate, doc []byte) int {
	var o order
	err := json.Unmarshal(doc, &o)
	invalid, ok := v.Struct(&o).(validator.ValidationErrors)
	if err == nil || !ok || err.Error() == "" || invalid.Error() == "" {
		return 0
	}
	return len(invalid)
}

func BenchmarkCompile(b *testing.B) {
	typed, err := schema.For[order]()
	require.NoError(b, err)
	text := typed.Schema().JSON()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.ForAnew[order](); err != nil {
			b.Fatal(err)
		}
	}
}
