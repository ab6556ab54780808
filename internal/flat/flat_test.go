package flat

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
)

type (
	word  string
	level int8
	part  struct {
		Word word
		Size uint16 `json:"size,omitempty"`
	}
	all struct {
		B     bool          `json:"b,omitempty"`
		A     string        `json:"a,omitempty"`
		Z     string        `json:"z" other:"x"`
		Level level         `json:",omitzero"`
		Price float64       `json:"price"`
		Wait  time.Duration `json:"wait_ns,omitempty"`
		Part  part          `json:"part"`
		None  struct{}      `json:"none"`
		Big   int64
		Huge  uint64 `json:"huge"`
	}
	saysItself  struct{ A string }
	readsItself struct{ A string }
	zero        int
	embeds      struct{ part }
	within      struct{ In saysItself }
)

func (saysItself) MarshalJSON() ([]byte, error)   { return []byte(`"so"`), nil }
func (*readsItself) UnmarshalText(b []byte) error { return nil }
func (zero) IsZero() bool                         { return true }

func TestWhichTypesAreFlat(t *testing.T) {
	cases := []struct {
		of   any
		flat bool
	}{
		{"", true}, {word(""), true}, {1, true}, {uint8(1), true}, {level(1), true}, {true, true}, {1.5, true}, {time.Second, true}, {part{}, true},
		{all{}, true}, {struct{}{}, true},
		{saysItself{}, false}, {readsItself{}, false}, {zero(1), false}, {embeds{}, false}, {within{}, false}, {time.Time{}, false},
		{json.Number("1"), false}, {new(int), false}, {[]string{}, false}, {[2]int{}, false}, {map[string]int{}, false}, {float32(1), false},
		{complex(1, 1), false}, {uintptr(1), false}, {struct{ a int }{}, false}, {struct{ A, B any }{}, false}, {json.RawMessage{}, false},
		{struct {
			A int `json:"-"`
		}{}, false},
		{struct {
			A int `json:"a,string"`
		}{}, false},
		{struct {
			A int `json:"a b"`
		}{}, false},
		{struct {
			A part `json:"a,omitempty"`
		}{}, false},
		{struct {
			A int `json:"a,omitempty,omitzero"`
		}{}, false},
		{struct {
			A float64 `json:"a,omitempty"`
		}{}, false},
		{struct {
			A float64 `json:"a,omitzero"`
		}{}, false},
	}
	for _, c := range cases {
		assert.Equal(t, c.flat, typeOf(reflect.TypeOf(c.of)) != nil, "%T", c.of)
	}
	assert.Nil(t, Of[any]())
	assert.False(t, Writes(Of[time.Time](), new(time.Time)), "the library has the word")
	assert.Same(t, Of[part](), Of[part]())
}

// asTheLibrary holds what is written of a value, and what is read of that, to what package canon makes of it.
func asTheLibrary[T comparable](t assert.TestingT, v T) {
	want, refused := canon.Marshal(v)
	got, err := Marshal(Of[T](), v)
	assert.Equal(t, string(want), string(got))
	assert.Equal(t, refused, err)
	if Writes(Of[T](), &v) {
		assert.NoError(t, refused)
		assert.Equal(t, string(want), string(Written(&v)))
	}
	if err != nil {
		return
	}
	back, err := Unmarshal[T](Of[T](), got)
	assert.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%#v", v), fmt.Sprintf("%#v", back), "what can be written reads back as itself")
	slow, err := slowly[T](got)
	assert.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%#v", v), fmt.Sprintf("%#v", slow))
}

func TestValuesAreWrittenAsTheLibraryDoes(t *testing.T) {
	for _, s := range []string{"", "tea", "é", "<&>", "a\"b\\\n\u2028\x01", "\xff", "\ufffd", strings.Repeat("long ", 100)} {
		asTheLibrary(t, s)
		asTheLibrary(t, all{A: s, Z: s, Part: part{Word: word(s)}})
	}
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		asTheLibrary(t, n)
		asTheLibrary(t, all{Big: n, Huge: uint64(n), Wait: time.Duration(n)})
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.9e-7, 1e20, 1e21, -1e21, math.MaxFloat64, 0.1, 1 << 53, 5e-324} {
		asTheLibrary(t, f)
		asTheLibrary(t, all{Price: f})
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		assert.False(t, Writes(Of[float64](), &f))
		_, err := Marshal(Of[float64](), f)
		_, refused := canon.Marshal(f)
		assert.Equal(t, refused, err)
	}
}

func TestAnyValueIsWrittenAsTheLibraryDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asTheLibrary(t, all{
			B: rapid.Bool().Draw(t, "b"), A: rapid.String().Draw(t, "a"), Z: string(rapid.SliceOf(rapid.Byte()).Draw(t, "z")),
			Level: level(rapid.Int8().Draw(t, "level")), Price: rapid.Float64().Draw(t, "price"), Wait: time.Duration(rapid.Int64().Draw(t, "wait")),
			Part: part{word(rapid.String().Draw(t, "word")), rapid.Uint16().Draw(t, "size")},
			Big:  rapid.Int64().Draw(t, "big"), Huge: rapid.Uint64().Draw(t, "huge"),
		})
	})
}

// Whatever the tags of a struct say: where it is flat, its values are written as the library writes them.
func TestAnyStructIsWrittenAsTheLibraryDoes(t *testing.T) {
	kinds := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int8](), reflect.TypeFor[uint64](), reflect.TypeFor[bool](), reflect.TypeFor[float64](), reflect.TypeFor[part](),
		reflect.TypeFor[time.Duration](), reflect.TypeFor[saysItself](), reflect.TypeFor[[]int](), reflect.TypeFor[zero](), reflect.TypeFor[word](),
	}
	tags := []string{
		"", `json:"a"`, `json:"b"`, `json:"a,omitempty"`, `json:",omitzero"`, `json:"-"`, `json:"-,"`, `json:"a,string"`, `json:"é"`, `json:"a b"`, `json:"'a'"`,
		`json:"Z,omitempty"`, `json:"_"`, `json:"a.b"`, `json:",embed"`, `json:"a,case:ignore"`, `xml:"a"`, `json:"a" json:"c"`, `json:a`, `json:"a,"`, `json:" a"`, `json:""`, `json:"C"`,
	}
	rapid.Check(t, func(t *rapid.T) {
		var fields []reflect.StructField
		for n := range rapid.IntRange(0, 4).Draw(t, "fields") {
			fields = append(fields, reflect.StructField{
				Name: string(rune('A' + n)), Type: rapid.SampledFrom(kinds).Draw(t, "kind"), Tag: reflect.StructTag(rapid.SampledFrom(tags).Draw(t, "tag")),
			})
		}
		goType := reflect.StructOf(fields)
		flat := typeOf(goType)
		if flat == nil {
			return
		}
		v := reflect.New(goType).Elem()
		for n := range fields {
			fill(t, v.Field(n))
		}
		want, err := canon.Marshal(v.Interface())
		require.NoError(t, err, goType)
		got, ok := flat.append(nil, v)
		if ok {
			require.Equal(t, string(want), string(got), goType)
		}
		require.Equal(t, ok, flat.writes(v), goType)
		back := reflect.New(goType)
		require.NoError(t, canon.Unmarshal(want, back.Interface()))
		require.Equal(t, fmt.Sprintf("%#v", v), fmt.Sprintf("%#v", back.Elem()))
	})
}

// fill puts something into a value, or leaves it zero.
func fill(t *rapid.T, v reflect.Value) {
	switch n := rapid.IntRange(0, 9).Draw(t, "value"); v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("\"", n))
	case reflect.Bool:
		v.SetBool(n > 5)
	case reflect.Struct:
		fill(t, v.Field(0))
	case reflect.Float64:
		v.SetFloat(math.Copysign(float64(n/4), float64(n%2)-0.5))
	case reflect.Uint64:
		v.SetUint(uint64(n))
	case reflect.Int8, reflect.Int64:
		v.SetInt(int64(n - 5))
	}
}

// FuzzUnmarshal holds what is read to what package canon reads.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{"Big":1,"a":"x","b":true,"huge":0,"none":{},"part":{"Word":"w","size":3},"price":1.5,"wait_ns":7,"z":"é"}`, `{}`, `{"b":true}`, `{"z":"x"}`, `{"a":"x","a":"y"}`,
		`{"b":true,"a":"x"}`, `{"a":"\n"}`, `{"a":null}`, `{"Level":128}`, `{"Level":-128}`, `{"Level":1.0}`, `{"huge":-1}`, `{"huge":18446744073709551616}`, `{"Big":-0}`,
		`{"Big":01}`, `{"Big":+1}`, `{"Big":1_0}`, `{"Big":1e2}`, `{"price":1e2}`, `{"price":-0.0}`, `{"price":.5}`, `{"price":5.}`, `{"price":00.5}`, `{"price":-}`, `{"price":1.50}`,
		`{"price":--1}`, `{"a":"` + "\xff" + `"}`, `{"a":"x"} `, `{"a":"x"`, `{"a":"x`, `{,"a":"x"}`, `{"a":"x",}`, `{"other":1}`, `{"part":{}}`, `{"part":{"size":65536}}`, `{"none":{"x":1}}`,
		`"x"`, `true`, `false`, `falsey`, `-1`, `0`, `1.5`, `null`, ``, `"`, `[]`, "\"\u2028\x7f\"", `"a\"b"`, `5e-324`, `999999999999999999999999999999.25`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		readAsTheLibrary[all](t, text)
		readAsTheLibrary[string](t, text)
		readAsTheLibrary[bool](t, text)
		readAsTheLibrary[level](t, text)
		readAsTheLibrary[uint64](t, text)
		readAsTheLibrary[float64](t, text)
		readAsTheLibrary[struct{}](t, text)
	})
}

func readAsTheLibrary[T any](t *testing.T, text string) {
	want, refused := slowly[T]([]byte(text))
	got, err := Unmarshal[T](Of[T](), []byte(text))
	assert.Equal(t, want, got, text)
	assert.Equal(t, refused, err, text)
	var v T
	if rest, ok := Of[T]().read([]byte(text), reflect.ValueOf(&v).Elem()); ok && len(rest) == 0 {
		form, err := canon.JSON([]byte(text))
		assert.NoError(t, err)
		assert.Equal(t, text, string(form), "what is read at once is canonical")
	}
}

func TestFlatValuesNeedLittleMemory(t *testing.T) {
	v, written := part{Word: "w", Size: 3}, Of[part]()
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = Marshal(written, v) }), 1.0)
	raw := []byte(`{"Word":"w","size":3}`)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = Unmarshal[part](written, raw) }), 1.0, "its text")
}
