package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-playground/validator/v10"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// bySide reports the time of a function as a share of another's, and its allocations.
func bySide(b *testing.B, ours, peer func()) {
	times := max(b.N, 5)
	b.ReportMetric(shareOf(times, ours, peer), "ratio")
	b.ReportMetric(testing.AllocsPerRun(5, ours), "allocs/check")
	b.ReportMetric(0, "ns/op") // that of all rounds together says nothing
}

// BenchmarkLarge checks a good document of 1 MB, beside jsontext, which only reads its tokens. What users
// would write otherwise is a line of its own.
func BenchmarkLarge(b *testing.B) {
	typed, err := schema.For[order]()
	require.NoError(b, err)
	raw, err := schema.Compile(fmt.Appendf(nil, `{"items":{"type":"object","properties":{"order":%s}}}`, typed.Schema().JSON()))
	require.NoError(b, err)
	type orders []struct {
		Order order `json:"order"`
	}
	list, err := schema.For[orders]()
	require.NoError(b, err)
	v := validator.New()
	one := fmt.Sprintf(`{"order":%s}`, orderDocument(b))
	doc := []byte("[" + strings.Repeat(one+",", (1<<20-2)/(len(one)+1)-1) + one + "]")
	limits := schema.DefaultLimits()
	for name, check := range map[string]func() bool{
		"strict": func() bool { return schema.Strict(doc, limits) == nil },
		"raw":    func() bool { return raw.Check(doc) == nil },
		"typed":  func() bool { _, issues := list.Decode(doc); return issues == nil },
		"standard_library_and_validator": func() bool {
			var all orders
			return json.Unmarshal(doc, &all) == nil && v.Var(all, "dive") == nil
		},
	} {
		require.True(b, check(), name)
		b.Run(name, func(b *testing.B) { bySide(b, func() { check() }, func() { readTokens(doc) }) })
	}
}

func readTokens(doc []byte) {
	for d := jsontext.NewDecoder(bytes.NewReader(doc)); ; {
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			return
		}
	}
}

// The same demands, in other words.
type (
	byRules struct {
		Name  string   `json:"name" validate:"min=1,max=40"`
		Kind  string   `json:"kind" validate:"oneof=order quote"`
		Count int      `json:"count" validate:"min=1,max=30"`
		Code  string   `json:"code" validate:"numeric"`
		Tags  []string `json:"tags" validate:"max=5,dive,min=1"`
	}
	byKeywords struct {
		Name  string   `json:"name" jsonschema:"minLength=1,maxLength=40"`
		Kind  string   `json:"kind" jsonschema:"enum=order,enum=quote"`
		Count int      `json:"count" jsonschema:"minimum=1,maximum=30"`
		Code  string   `json:"code" jsonschema:"pattern=^[-+]?[0-9]+(\\.[0-9]+)?$"`
		Tags  []string `json:"tags" jsonschema:"maxItems=5" validate:"dive,min=1"`
	}
	byBoth struct {
		Name  string   `json:"name" validate:"required,max=40" jsonschema:"minLength=1,maxLength=40"`
		Kind  string   `json:"kind" validate:"oneof=order quote" jsonschema:"enum=order,enum=quote"`
		Count int      `json:"count" validate:"min=1,max=30" jsonschema:"minimum=1,maximum=30"`
		Code  string   `json:"code" validate:"numeric" jsonschema:"description=A code."`
		Tags  []string `json:"tags" validate:"max=5,dive,min=1" jsonschema:"maxItems=5"`
	}
	byPointers struct {
		Name  *string   `json:"name" validate:"required,min=1,max=40"`
		Kind  *string   `json:"kind" validate:"required,oneof=order quote"`
		Count *int      `json:"count" validate:"required,min=1,max=30"`
		Code  *string   `json:"code" validate:"required,numeric"`
		Tags  *[]string `json:"tags" validate:"required,max=5,dive,min=1"`
	}
	byOmission struct {
		Name  string   `json:"name" validate:"omitempty,max=40"`
		Kind  string   `json:"kind" validate:"omitempty,oneof=order quote"`
		Count int      `json:"count" validate:"omitempty,max=30"`
		Code  string   `json:"code" validate:"omitempty,numeric"`
		Tags  []string `json:"tags" validate:"omitempty,max=5,dive,min=1"`
	}
)

// BenchmarkSpellings checks a document by types that demand the same in other words. The ratio is that of the
// time to the time by the rules of `validate` tags alone.
func BenchmarkSpellings(b *testing.B) {
	good := []byte(`{"name":"Ada","kind":"order","count":3,"code":"12345","tags":["new","large"]}`)
	bad := []byte(`{"name":"","kind":"odd","count":31,"code":"x","tags":["new",""]}`)
	for _, doc := range [][]byte{good, bad} {
		rules := checkOf[byRules](b)
		for name, check := range map[string]func(doc []byte) int{
			"keywords": checkOf[byKeywords](b), "both": checkOf[byBoth](b), "pointers": checkOf[byPointers](b),
			"optional": checkOf[byOmission](b),
		} {
			require.Equal(b, bytes.Equal(doc, good), check(doc) == 0, name)
			b.Run(fmt.Sprintf("%s/good=%t", name, bytes.Equal(doc, good)), func(b *testing.B) {
				bySide(b, func() { check(doc) }, func() { rules(doc) })
			})
		}
	}
}

// checkOf decodes a document into a type and counts the issues.
func checkOf[T any](t testing.TB) func(doc []byte) int {
	typed, err := schema.For[T]()
	require.NoError(t, err)
	return func(doc []byte) int { _, issues := typed.Decode(doc); return len(issues) }
}
