package schema_test

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-playground/validator/v10"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/schema"
)

// Types that reflection cannot make: with methods, recursive, generic, and to be embedded.
type (
	Plain struct {
		ID   string `json:"id" validate:"required"`
		Size *int   `json:"size"`
	}
	Deeper struct {
		Plain `json:"plain"`
		Extra map[string][]Plain `json:"extra,omitempty" validate:"dive,min=1,dive"`
	}
	Linked struct {
		Value int8               `json:"value" validate:"max=3"`
		Next  *Linked            `json:"next"`
		Kids  []Linked           `json:"kids,omitempty" validate:"max=2"`
		ByKey map[string]*Linked `json:"by_key,omitempty" validate:"dive,keys,alpha,endkeys,required"`
	}
	Optional[T any] struct {
		Value *T `json:"value" validate:"omitempty"`
	}
	Pair[A, B any] struct {
		First  A `json:"first"`
		Second B `json:"second" validate:"required"`
	}
	Color   string
	Upper   string
	Percent float32
	Loud    struct{ Text string }
)

func (c Color) MarshalText() ([]byte, error) { return []byte("color " + string(c)), nil }

func (u *Upper) UnmarshalText(text []byte) error {
	if strings.ToUpper(string(text)) != string(text) {
		return fmt.Errorf("not in upper case")
	}
	*u = Upper(text)
	return nil
}

func (u Upper) MarshalText() ([]byte, error) { return []byte(u), nil }

func (l *Loud) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &l.Text) }
func (l Loud) MarshalJSON() ([]byte, error)     { return json.Marshal(l.Text) }

var leafTypes = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint](), reflect.TypeFor[uint16](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](),
	reflect.TypeFor[bool](), reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[jsontext.Value](), reflect.TypeFor[time.Time](),
	reflect.TypeFor[netip.Addr](), reflect.TypeFor[[]byte](), reflect.TypeFor[[3]byte](), reflect.TypeFor[Color](), reflect.TypeFor[Upper](),
	reflect.TypeFor[Percent](), reflect.TypeFor[Loud](), reflect.TypeFor[Plain](), reflect.TypeFor[Deeper](), reflect.TypeFor[Linked](),
	reflect.TypeFor[Optional[string]](), reflect.TypeFor[Optional[Optional[int]]](), reflect.TypeFor[Optional[[]string]](),
	reflect.TypeFor[Pair[string, []int]](), reflect.TypeFor[Pair[*Plain, Color]](), reflect.TypeFor[Pair[time.Time, map[string]int]](),
	reflect.TypeFor[big.Int](), reflect.TypeFor[struct{}](), reflect.TypeFor[even](),
}

// strange are types that For may refuse.
var strange = []reflect.Type{
	reflect.TypeFor[json.Number](), reflect.TypeFor[time.Duration](), reflect.TypeFor[chan int](), reflect.TypeFor[func()](), reflect.TypeFor[complex128](),
	reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[encoding.TextUnmarshaler](), reflect.TypeFor[uintptr](), reflect.TypeFor[url.URL](), reflect.TypeFor[map[int]string](),
	reflect.TypeFor[map[netip.Addr]int](), reflect.TypeFor[map[any]int](), reflect.TypeFor[big.Float](), reflect.TypeFor[map[bool]int](), reflect.TypeFor[error](),
}

var keyTypes = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[string](), reflect.TypeFor[named](), reflect.TypeFor[Color](), reflect.TypeFor[Upper](),
}

// drawType draws a Go type.
func drawType(t *rapid.T, depth int) reflect.Type {
	switch n := rapid.IntRange(0, 19).Draw(t, "type"); {
	case n == 0:
		return reflect.PointerTo(drawType(t, depth))
	case depth == 0 || n < 9:
		if rapid.IntRange(0, 60).Draw(t, "strange") == 0 {
			return rapid.SampledFrom(strange).Draw(t, "odd")
		}
		return rapid.SampledFrom(leafTypes).Draw(t, "leaf")
	case n < 12:
		return reflect.SliceOf(drawType(t, depth-1))
	case n == 12:
		return reflect.ArrayOf(rapid.IntRange(0, 3).Draw(t, "len"), drawType(t, depth-1))
	case n < 15:
		return reflect.MapOf(rapid.SampledFrom(keyTypes).Draw(t, "key"), drawType(t, depth-1))
	case n == 15:
		return reflect.PointerTo(drawType(t, depth-1))
	}
	return drawStruct(t, depth-1)
}

var memberNames = []string{"a", "b", "c d", "e/f", "~g", "ü", "$ref", "type", "x-h", "0", "A"}

func drawStruct(t *rapid.T, depth int) reflect.Type {
	var fields []reflect.StructField
	used := map[string]bool{}
	for n := range rapid.IntRange(0, 4).Draw(t, "fields") {
		f := reflect.StructField{Name: "F" + strconv.Itoa(n), Type: drawType(t, depth)}
		if rapid.IntRange(0, 12).Draw(t, "embeds") == 0 && !used["Plain"] {
			used["Plain"] = true
			fields = append(fields, reflect.StructField{Name: "Plain", Type: reflect.TypeFor[Plain](), Anonymous: true})
			continue
		}
		name := rapid.SampledFrom(memberNames).Draw(t, "name")
		if used[name] {
			continue
		}
		used[name] = true
		options := rapid.SampledFrom([]string{"", "", "", "", ",omitempty", ",omitzero"}).Draw(t, "options")
		tag := fmt.Sprintf("json:%q", name+options)
		if rules := drawRules(t, f.Type); rules != "" {
			tag += fmt.Sprintf(" validate:%q", rules)
		}
		if says := drawKeywords(t, f.Type); says != "" {
			tag += fmt.Sprintf(" jsonschema:%q", says)
		}
		f.Tag = reflect.StructTag(tag)
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

var (
	anyRules    = []string{"required", "omitempty", "omitzero", "omitnil", "isdefault"}
	otherFields = []string{
		"required_with=F0", "required_without=F1", "excluded_with=F0", "required_if=F0 a", "excluded_unless=F1 1", "eqfield=F0", "nefield=F1",
		"required_with_all=F0 F1", "required_without_all=F0 F1", "excluded_without=F0", "required_unless=F0 1", "gtfield=F0", "ltefield=F1",
		"required_if=F0.value 1", "required_if=F0 a F1 2", "eqfield=F1.value", "excluded_if=F0.ID a", "eqfield=F0|eqfield=F1", "required_with=F0.Value",
	}
	stringRules = []string{
		"min=1", "max=3", "len=2", "eq=ab", "ne=ab", "oneof=a b ab", "noneof=a b", "alpha", "alphanum", "numeric", "number", "email", "url", "uuid", "ipv4",
		"alpha|numeric", "len=1|len=3", "startswith=a", "endswith=b", "contains=b", "excludes=b", "lowercase", "datetime=2006-01-02", "gt=0", "lt=3", "gte=1", "lte=2",
		"hexadecimal", "e164", "containsany=ab", "excludesall=ab", "oneofci=A b", "eq=|eq=a", "boolean", "json", "base64", "uri|email", "startsnotwith=a", "len=0|email",
	}
	numberRules = []string{
		"min=1", "max=3", "len=2", "eq=3", "ne=3", "oneof=1 2 3", "noneof=1 2", "gt=0", "lt=5", "gte=2", "lte=5", "eq=1|eq=2", "lt=2|gt=5", "numeric", "number",
	}
	countRules = []string{"min=1", "max=2", "len=1", "gt=0", "lt=3", "gte=1", "lte=2", "ne=1", "eq=2", "unique", "len=0|len=2"}
)

// drawRules draws a validate tag that may fit a type.
func drawRules(t *rapid.T, of reflect.Type) string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	fitting := anyRules
	switch of.Kind() {
	case reflect.String:
		fitting = stringRules
	case reflect.Slice, reflect.Map, reflect.Array:
		fitting = countRules
	case reflect.Bool:
		fitting = []string{"eq=true", "ne=true", "required"}
	case reflect.Struct:
		if alone := rapid.SampledFrom([]string{"", "", "structonly", "-"}).Draw(t, "alone"); alone != "" {
			return alone
		}
		fitting = []string{"required", "omitempty"}
	case reflect.Interface:
		fitting = []string{"required", "omitempty", "-"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		fitting = numberRules
	}
	var rules []string
	for range rapid.IntRange(0, 3).Draw(t, "rules") {
		from := fitting
		switch rapid.IntRange(0, 7).Draw(t, "from") {
		case 0, 1:
			from = anyRules
		case 2:
			from = otherFields
		}
		rules = append(rules, rapid.SampledFrom(from).Draw(t, "rule"))
	}
	slices.SortStableFunc(rules, func(a, b string) int { return cmp.Compare(ofNil(a), ofNil(b)) })
	isList := of.Kind() == reflect.Slice || of.Kind() == reflect.Array || of.Kind() == reflect.Map
	if isList && of.Elem().Kind() != reflect.Uint8 && rapid.Bool().Draw(t, "dives") {
		rules = append(rules, "dive")
		if of.Kind() == reflect.Map && rapid.Bool().Draw(t, "keys") {
			rules = append(rules, "keys,"+rapid.SampledFrom(stringRules).Draw(t, "key rule")+",endkeys")
		}
		if inner := drawRules(t, of.Elem()); inner != "" && inner != "-" {
			rules = append(rules, inner)
		}
	}
	return strings.Join(rules, ",")
}

// ofNil says where a rule stands: of nil the validator asks no rule after one that is not for nil.
func ofNil(rule string) int {
	if strings.HasPrefix(rule, "required") || strings.HasPrefix(rule, "excluded") {
		return 0
	}
	return 1
}

// drawKeywords draws a jsonschema tag that may fit a type.
func drawKeywords(t *rapid.T, of reflect.Type) string {
	fitting := []string{"description=Words.", "title=A title", "default=1", "optional", "required", "deprecated=true", "example=1"}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.String:
		fitting = append(fitting, "minLength=1", "maxLength=2", "enum=a,enum=ab", "pattern=^a", "format=email", "enum=a")
	case reflect.Int, reflect.Int8, reflect.Int64, reflect.Uint, reflect.Uint16, reflect.Uint64, reflect.Float32, reflect.Float64:
		fitting = append(fitting, "minimum=1", "maximum=3", "exclusiveMinimum=0", "multipleOf=2", "enum=1,enum=2", "exclusiveMaximum=4")
	case reflect.Slice:
		fitting = append(fitting, "minItems=1", "maxItems=2", "uniqueItems=true", "minLength=1", "enum=a")
	case reflect.Map, reflect.Struct:
		fitting = append(fitting, "minProperties=1", "nullable", "oneof_type=string;object")
	}
	var words []string
	for range max(0, rapid.IntRange(-4, 2).Draw(t, "keywords")) {
		words = append(words, rapid.SampledFrom(fitting).Draw(t, "keyword"))
	}
	return strings.Join(words, ",")
}

// drawFor draws a document that nearly fits a type.
func drawFor(t *rapid.T, of reflect.Type, depth int) string {
	if rapid.IntRange(0, 40).Draw(t, "wild") == 0 || depth < 0 {
		return rapid.SampledFrom(values).Draw(t, "value")
	}
	pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "value") }
	switch {
	case of == reflect.TypeFor[time.Time]():
		return pick(`"2024-05-06T07:08:09Z"`, `"0001-01-01T00:00:00Z"`, `"2024-05-06T07:08:09.5+02:00"`, `"2024-05-06"`)
	case of == reflect.TypeFor[netip.Addr]():
		return pick(`"1.2.3.4"`, `"::1"`, `""`, `"x"`)
	case of == reflect.TypeFor[big.Int](), of == reflect.TypeFor[even]():
		return pick(`2`, `0`, `18446744073709551616`, `2.0`, `"2"`)
	case of == reflect.TypeFor[Loud]():
		return pick(`"a"`, `""`, `1`)
	case of == reflect.TypeFor[json.RawMessage](), of == reflect.TypeFor[jsontext.Value](), of.Kind() == reflect.Interface:
		return rapid.SampledFrom(values).Draw(t, "value")
	}
	switch of.Kind() {
	case reflect.Pointer:
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			return "null"
		}
		return drawFor(t, of.Elem(), depth)
	case reflect.String:
		return pick(`""`, `"a"`, `"ab"`, `"abc"`, `"AB"`, `"12"`, `"a@b.co"`, `"b"`, `"\u0061"`, `"2024-02-29"`, `"https://a.b"`, `"1.2.3.4"`)
	case reflect.Bool:
		return pick("true", "false")
	case reflect.Float32, reflect.Float64:
		return pick("0", "1", "2", "3", "0.5", "1.0", "2.5e0", "-1", "1e2", "-0.0", "3.5e38", "1e-320", "0.1")
	case reflect.Slice, reflect.Array:
		if of.Elem().Kind() == reflect.Uint8 {
			return pick(`""`, `"YQ=="`, `"YWJj"`, `"YWJj\n"`, `"x"`)
		}
		count := of.Len
		if of.Kind() == reflect.Slice {
			count = func() int { return rapid.IntRange(0, 3).Draw(t, "count") }
		}
		var items []string
		for range count() {
			items = append(items, drawFor(t, of.Elem(), depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case reflect.Map:
		members := map[string]json.RawMessage{}
		for range rapid.IntRange(0, 3).Draw(t, "count") {
			members[pick("", "a", "b", "AB", "a/b", "1")] = json.RawMessage(drawFor(t, of.Elem(), depth-1))
		}
		text, err := json.Marshal(members)
		require.NoError(t, err)
		return string(text)
	case reflect.Struct:
		var members []string
		for n := range of.NumField() {
			f := of.Field(n)
			if rapid.IntRange(0, 15).Draw(t, "leaves out") == 0 {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && f.Anonymous {
				if inner := drawFor(t, f.Type, depth); inner[0] == '{' && len(inner) > 2 {
					members = append(members, inner[1:len(inner)-1])
				}
				continue
			}
			key, err := json.Marshal(name)
			require.NoError(t, err)
			members = append(members, string(key)+":"+drawFor(t, f.Type, depth-1))
		}
		if rapid.IntRange(0, 30).Draw(t, "more") == 0 {
			members = append(members, `"more":1`)
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return pick("0", "1", "2", "3", "5", "-1", "127", "128", "255", "256", "2.0", "2e0", "1.5", "9223372036854775807", "18446744073709551615")
}

// byOthers is the verdict of the decoder and the validator. judges is false where the validator refuses a
// document that lacks members or has null: it cannot see that.
func byOthers(of reflect.Type, doc []byte) (value any, good, judges bool) {
	v := reflect.New(of)
	if jsonv2.Unmarshal(doc, v.Interface(), jsonv2.RejectUnknownMembers(true)) != nil {
		return nil, false, true
	}
	defer func() {
		if recover() != nil { // the validator cannot apply a rule to nil
			value, good, judges = v.Interface(), false, false
		}
	}()
	good = keepsRules(validator.New(validator.WithRequiredStructEnabled()), v.Elem())
	var tree any
	lacksNothing := json.Unmarshal(doc, &tree) == nil && !bytes.Contains(doc, []byte("null")) &&
		membersIn(v) == membersIn(reflect.ValueOf(tree))
	return v.Interface(), good, good || lacksNothing
}

// membersIn counts the members of all objects that a value was read from, if each field was given.
func membersIn(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return membersIn(v.Elem())
		}
	case reflect.Struct:
		if _, is := reflect.PointerTo(v.Type()).MethodByName("UnmarshalJSON"); is {
			return 0
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				n += membersIn(v.Field(i))
				if !f.Anonymous || f.Tag.Get("json") != "" {
					n++
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if of := v.Type(); of == reflect.TypeFor[json.RawMessage]() || of == reflect.TypeFor[jsontext.Value]() {
			var tree any
			_ = json.Unmarshal(v.Bytes(), &tree)
			return membersIn(reflect.ValueOf(tree))
		}
		for i := range v.Len() {
			n += membersIn(v.Index(i))
		}
	case reflect.Map:
		n = v.Len()
		for _, key := range v.MapKeys() {
			n += membersIn(v.MapIndex(key))
		}
	}
	return n
}

// keepsRules asks the validator about each struct in a value, with `dive` or without.
func keepsRules(validate *validator.Validate, v reflect.Value) bool {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		if validate.Struct(v.Interface()) != nil {
			return false
		}
		for n := range v.NumField() {
			tag := v.Type().Field(n).Tag.Get("validate")
			if v.Type().Field(n).IsExported() && tag != "-" && !strings.Contains(tag, "structonly") && !keepsRules(validate, v.Field(n)) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for n := range v.Len() {
			if !keepsRules(validate, v.Index(n)) {
				return false
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if !keepsRules(validate, v.MapIndex(key)) {
				return false
			}
		}
	}
	return true
}

// A document is held to a drawn type by four: the plan of the type, the schema that models see, the decoder
// and the validator. What the plan accepts all accept, and read as the same value; what it refuses one of the
// others refuses. That the decoder does not take 2.0 or -0 for an integer is no disagreement.
func TestDrawnTypes(t *testing.T) {
	compared, good := 0, 0
	defer func() {
		if compared >= 300 { // the share of a few types says nothing
			assert.Greater(t, good, compared/5, "of %d documents", compared)
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		of := drawStruct(t, 3)
		if rapid.IntRange(0, 3).Draw(t, "other") == 0 {
			of = drawType(t, 3)
		}
		s, err := schema.ForType(of)
		if err != nil {
			return
		}
		shown, err := schema.Compile(s.JSON())
		require.NoError(t, err)
		for range 8 {
			doc := []byte(drawFor(t, of, 6))
			if schema.Strict(doc, schema.DefaultLimits()) != nil {
				continue
			}
			compared++
			value, issues := s.Decode(doc)
			about := fmt.Sprintf("%v\n%s\n%s\n%v", of, s.JSON(), doc, lines(issues))
			require.Equal(t, issues, s.Check(doc), about)
			written, err := canon.JSON(doc)
			require.NoError(t, err)
			if len(issues) < 100 { // of more those are told that are found first
				require.Equal(t, issues, s.Check(written), "as it is recorded: %s", about)
			}
			for _, i := range issues {
				if i.Got != "" {
					require.True(t, isThere(doc, i.Pointer), "%s is nowhere: %s", i.Pointer, about)
				}
			}
			theirs, fits, judges := byOthers(of, doc)
			switch {
			case len(issues) > 0 && fits:
				require.NotEmpty(t, shown.Check(doc), "the decoder, the validator and the schema accept it: %s", about)
			case len(issues) == 0:
				good++
				require.Empty(t, shown.Check(doc), "the schema that models see refuses it: %s", about)
				isOdd := bytes.ContainsAny(doc, ".e") || bytes.Contains(doc, []byte("-0"))
				require.True(t, fits || !judges || isOdd, "the decoder refuses it: %s", about)
				if fits {
					require.Equal(t, canonical(t, theirs), canonical(t, value), about)
				}
			}
		}
	})
}

func isThere(doc []byte, pointer string) bool {
	var tree any
	if json.Unmarshal(doc, &tree) != nil {
		return false
	}
	_, is := canon.At(tree, canon.Path(pointer))
	return is
}

func canonical(t require.TestingT, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	text, err = canon.JSON(text)
	require.NoError(t, err)
	return string(text)
}
