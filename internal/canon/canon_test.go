package canon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
)

func TestJSON(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"sorted_members":       {`{"b":1,"a":{"d":1,"c":2}}`, `{"a":{"c":2,"d":1},"b":1}`},
		"no_white_space":       {" [ 1 ,\t2 ]\n", `[1,2]`},
		"numbers_as_written":   {`[1.0,1e3,100000000000000000000001,-0,0.10]`, `[1.0,1e3,100000000000000000000001,-0,0.10]`},
		"shortest_escapes":     {`"\u0061\/\u00e9\u2028\u000a<"`, `"a/é` + "\u2028" + `\n<"`},
		"surrogate_pair":       {`"\ud83d\ude00"`, `"😀"`},
		"utf16_order_of_names": {`{"\uffff":1,"😀":2}`, `{"😀":2,"` + "\uffff" + `":1}`},
		"scalar":               {`null`, `null`},
		"canonical":            {`{"a":[1,"\"\n"],"b":{}}`, `{"a":[1,"\"\n"],"b":{}}`},
		"longer_escape":        {`{"a":"\n\u000a","b":[ ]}`, `{"a":"\n\n","b":[]}`},
		"empty_name":           {`{"b":1,"":2}`, `{"":2,"b":1}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := []byte(c.in)
			got, err := canon.JSON(in)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			clear(got)
			assert.Equal(t, c.in, string(in), "the argument is left as it was, and shares no memory with the result")
		})
	}
}

func TestJSONRefuses(t *testing.T) {
	cases := map[string]struct {
		in     string
		rule   canon.Rule
		offset int
	}{
		"nothing":                {``, canon.Syntax, 0},
		"cut_off":                {`{"a":[1,`, canon.Syntax, 8},
		"trailing_comma":         {`[1,]`, canon.Syntax, 2},
		"leading_zero":           {`01`, canon.TrailingData, 1},
		"lone_surrogate":         {`"\ud800"`, canon.Syntax, 1},
		"duplicate_name":         {`{"a":1,"a":2}`, canon.DuplicateKey, 7},
		"duplicate_name_escaped": {`{"a":1,"\u0061":2}`, canon.DuplicateKey, 7},
		"bad_utf8":               {"\"a\xff\"", canon.InvalidUTF8, 2},
		"trailing_data":          {`1 2`, canon.TrailingData, 1},
		"trailing_bracket":       {`{}}`, canon.TrailingData, 2},
		"too_deep":               {strings.Repeat("[", 513) + strings.Repeat("]", 513), canon.Depth, 512},
		"absurdly_deep":          {strings.Repeat("[", 1<<20), canon.Depth, 512},
		"quote_in_the_open":      {`"\`, canon.Syntax, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := canon.JSON([]byte(c.in))
			require.Nil(t, got)
			var e *canon.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.rule, e.Rule, e.Error())
			assert.Equal(t, c.offset, e.Offset, e.Error())
		})
	}
}

func TestDepthBound(t *testing.T) {
	deepest := strings.Repeat("[", canon.MaxDepth) + strings.Repeat("]", canon.MaxDepth)
	got, err := canon.JSON([]byte(deepest))
	require.NoError(t, err)
	assert.Equal(t, deepest, string(got))

	brackets := `"` + strings.Repeat(`[\"`, 1000) + `"`
	_, err = canon.JSON([]byte(brackets))
	assert.NoError(t, err, "brackets within a string do not nest")

	var into any
	assert.ErrorContains(t, canon.Unmarshal([]byte(strings.Repeat("[", 600)), &into), "nested deeper than 512 at byte 512")
}

type record struct {
	Wait  time.Duration  `json:"wait_ns,omitempty"`
	Map   map[string]int `json:"map,omitempty"`
	List  []int          `json:"list"`
	Text  string         `json:"text"`
	Float float64        `json:"float"`
}

type (
	embedded struct {
		Zed  int    `json:"zed"`
		Deep *int   `json:"deep,omitempty"`
		Same string `json:"same"`
	}
	rare struct {
		embedded
		Same   string          `json:"same"`
		Number int             `json:"number,string"`
		ByName map[string]rare `json:"by_name,omitempty"`
		Any    any             `json:"any"`
		Pair   [2]float64      `json:"pair"`
		Bytes  []byte          `json:"bytes"`
		Small  uint8           `json:"small"`
	}
	common struct {
		embedded
		Untagged bool
		Skipped  int `json:"-"`
		hidden   int
		At       time.Time       `json:"at"`
		Since    time.Time       `json:"since,omitzero"`
		Zero     struct{ A int } `json:"zero,omitzero"`
		Raw      json.RawMessage `json:"raw"`
		Next     *common         `json:"next,omitempty"`
		List     []common        `json:"list"`
		Names    []string        `json:"names,omitempty"`
		Big      *big.Int        `json:"big,omitempty"`
		URL      url.URL         `json:"url,omitzero"`
	}
)

// The canonical JSON of a Go value is that of encoding/json, sorted.
func TestMarshalIsAsEncodingJSON(t *testing.T) {
	seven, at := 7, time.Date(2030, 1, 1, 12, 0, 0, 5e8, time.FixedZone("", 3600))
	full := common{
		embedded: embedded{Deep: &seven, Same: "<é>\u2028\n"}, Untagged: true, Skipped: 1, hidden: 1, At: at, Since: at,
		Raw: json.RawMessage(` {"b":1.50, "a":[]}`), List: []common{{}}, Names: []string{"", "\x00\""}, Big: big.NewInt(-1),
	}
	full.Next, full.Zero.A = &common{}, 1
	odd := rare{embedded: embedded{Same: "inner"}, Same: "outer", Any: []any{1, "x", nil}, Bytes: []byte("x"), Small: 9}
	odd.ByName = map[string]rare{"z": {}, "a": {Number: -1}}
	for _, v := range []any{
		record{Map: map[string]int{"z": 1, "a": 2, "m": 3}, Text: "<é>"}, common{}, full, &full, []common{full}, rare{}, odd, &odd,
		[]*int{nil, &seven}, []string(nil), (*common)(nil), nil, "text", -1, uint64(1 << 63), 1e21, true, at, []byte("x"), [2]bool{},
		map[int]string{2: "b", 1: "a"}, big.NewInt(7), struct{}{},
	} {
		got, err := canon.Marshal(v)
		require.NoError(t, err, "%#v", v)
		std, err := json.Marshal(v)
		require.NoError(t, err)
		want, err := canon.JSON(std)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("a text that may change") }
func (*failing) UnmarshalJSON([]byte) error  { return errors.New("a text that may change") }

func TestMarshalRefuses(t *testing.T) {
	cases := map[string]any{
		"nan":          record{Float: math.NaN()},
		"channel":      make(chan int),
		"bad_utf8":     "a\xff",
		"failing_type": failing{},
		"bad_raw":      json.RawMessage(`{"a":1,"a":2}`),
		"bad_year":     time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for name, v := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := canon.Marshal(v)
			var e *canon.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, canon.Encode, e.Rule)
			assert.NotContains(t, err.Error(), "may change")
		})
	}
}

func TestUnmarshal(t *testing.T) {
	cases := map[string]struct {
		in    string
		known bool
		want  string // of the error; "" for none
	}{
		"good":                   {`{"list":[1],"text":"x"}`, true, ""},
		"unknown_member_passed":  {`{"other":1}`, false, ""},
		"unknown_member_refused": {`{"other":1}`, true, "JSON member /other is unknown"},
		"other_case_is_unknown":  {`{"Text":"x"}`, true, "JSON member /Text is unknown"},
		"wrong_kind":             {`{"list":[1,"2"]}`, false, "JSON value at /list/1 does not fit Go type int"},
		"duplicate":              {`{"text":"a","text":"b"}`, false, "JSON with a duplicate name at /text"},
		"trailing":               {`{} {}`, false, "not strict JSON: trailing_data at byte 2"},
		"cut_off":                {`{"text":`, false, "not strict JSON: syntax at byte 8"},
		"nothing":                {``, false, "not strict JSON: syntax at byte 0"},
		"bad_utf8":               {"{\"text\":\"\xff\"}", false, "not strict JSON: invalid_utf8 at byte 9"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			read := canon.Unmarshal
			if c.known {
				read = canon.UnmarshalKnown
			}
			var into record
			err := read([]byte(c.in), &into)
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, c.want)
		})
	}
	var f failing
	assert.EqualError(t, canon.Unmarshal([]byte(`1`), &f), "JSON value at the top does not fit Go type canon_test.failing")
}

// A value that cannot be written is named by its place. A value that is too deep to be read again is
// refused.
func TestMarshalSaysWhereTheFaultIs(t *testing.T) {
	_, err := canon.Marshal([]common{{}, {List: []common{{Names: []string{"a\xff"}}}}})
	require.EqualError(t, err, "text at /1/list/0/names/0 cannot be written as JSON: it is not UTF-8, or raw JSON that is not strict")
	_, err = canon.Marshal([]any{map[string]any{"a": math.Inf(1)}})
	require.EqualError(t, err, "Go type float64 cannot be written as JSON (at /0/a)")
	_, err = canon.Marshal(map[string]time.Time{"at": time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.EqualError(t, err, "time at /at cannot be written as JSON: its year must be 0 to 9999")
	deep := json.RawMessage(strings.Repeat("[", canon.MaxDepth) + strings.Repeat("]", canon.MaxDepth))
	_, err = canon.Marshal(common{Raw: deep})
	require.ErrorContains(t, err, "nested deeper than 512")
	ring := &common{}
	ring.Next = ring
	_, err = canon.Marshal(ring)
	require.ErrorContains(t, err, "nested deeper than 512")
}

// Canonical JSON is a fixed point and has the same meaning as its input.
func TestCanonicalFormIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonText(3).Draw(t, "text")
		once, err := canon.JSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		twice, err := canon.JSON(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%s: first %s, then %s (%v)", text, once, twice, err)
		}
		if a, b := decoded(t, text), decoded(t, string(once)); a != b {
			t.Fatalf("%s means %s, its canonical form %s", text, a, b)
		}
	})
}

// decoded decodes a text with encoding/json only.
func decoded(t *rapid.T, text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%#v", v)
}

func jsonText(depth int) *rapid.Generator[string] {
	scalar := rapid.OneOf(
		rapid.SampledFrom([]string{"null", "true", "false", "1.50", "-0", "1E+2", `"\u0041\/"`}),
		rapid.Map(rapid.String(), quoted),
	)
	if depth == 0 {
		return scalar
	}
	sub := jsonText(depth - 1)
	list := rapid.Map(rapid.SliceOfN(sub, 0, 4), func(v []string) string { return "[ " + strings.Join(v, " ,") + "]" })
	object := rapid.Custom(func(t *rapid.T) string {
		names := rapid.SliceOfNDistinct(rapid.Map(rapid.String(), quoted), 0, 4, rapid.ID).Draw(t, "names")
		for i := range names {
			names[i] += " :" + sub.Draw(t, "member")
		}
		return "{" + strings.Join(names, ",\n") + "}"
	})
	return rapid.OneOf(scalar, list, object)
}

func quoted(s string) string {
	raw, err := json.Marshal(strings.ToValidUTF8(s, "?"))
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"b":[1.0,"\u0061"],"a":null}`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, "\"\xff\"", `[[[[`, `1 2`, `"\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := canon.JSON(raw)
		if err != nil {
			var e *canon.Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(raw) {
				t.Fatalf("error %#v", err)
			}
			return
		}
		twice, err := canon.JSON(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("first %q, then %q (%v)", once, twice, err)
		}
		if !json.Valid(raw) {
			t.Fatal("accepted what encoding/json refuses")
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	raw := []byte(`{"tool":"book_room","arguments":{"nights":2,"city":"Lisbon","guests":[{"name":"Ada"},{"name":"Grace"}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.JSON(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshal(b *testing.B) {
	v := record{Map: map[string]int{"b": 1, "a": 2}, List: []int{1, 2, 3}, Text: "Lisbon"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.Marshal(v); err != nil {
			b.Fatal(err)
		}
	}
}
