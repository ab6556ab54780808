package canon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
)

// asTheLibrary holds what is written in one pass to what the library makes of the text.
func asTheLibrary(t assert.TestingT, text string) {
	want, refused := canon.Slowly([]byte(text))
	got, err := canon.JSON([]byte(text))
	assert.Equal(t, string(want), string(got), text)
	assert.Equal(t, refused, err, text)
	appended, ok := canon.AppendJSON([]byte("so far "), []byte(text))
	assert.Equal(t, refused == nil, ok, text)
	if ok {
		assert.Equal(t, "so far "+string(want), string(appended))
	}
}

// FuzzAppend holds what is appended to what the library makes of it.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[true,null,{}],"c":"x"}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `[1.50,-0,1e3,01,9007199254740993]`, `"é<&>\u2028\u0001\/"`,
		"\"\xff\"", ` {"a" : 1}`, `[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]`, `-`, `{`, `{"a"`, `""x`, "", `{"a":,}`, `[,]`, `[1,]`,
		`{"b":{"d":"\n","c":[{"z":0,"y":-1.5E+3}]},"a":"\ud83d\ude00 long enough to be looked at by eights \" "}`, `{"é":1,"a":2}`, `{"\u0061":1,"a":2}`,
		`{"c":1,"b":2,"c":3}`, "{\"b\":\"\u00e9\",\n\t\"a\":\"<\x7f>\" } ", `"\ud800"`, `"\`, "\"\u00e9 0123456789\\", `{"a`, `{"a":1,}`, `{"a":1 "b":2}`, "\"\x00\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		asTheLibrary(t, text)
		want, err := canon.Marshal(&text)
		got, ok := canon.AppendString(nil, text)
		assert.Equal(t, err == nil, ok)
		if ok {
			assert.Equal(t, string(want), string(got))
		}
	})
}

func TestWhatIsAppendedIsWhatTheLibraryWrites(t *testing.T) {
	pieces := []string{`{`, `}`, `[`, `]`, `,`, `:`, `"a"`, `"b"`, `"c":`, `{"b":2,`, `""`, `1`, `1e`, `-1`, `0`, `-0`, `01`, `true`, `null`, `1.0`, ` `, `"é"`, `"\n"`}
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(1, 14).Draw(t, "pieces") {
			text += rapid.SampledFrom(pieces).Draw(t, "piece")
		}
		asTheLibrary(t, text)
	})
}

func TestMembersInEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[a-c]{0,3}|é|\\n`), 0, 40).Draw(t, "names")
		text := ""
		for n, name := range names {
			text += fmt.Sprintf(`,"%s":{"y":"%s","x":%d}`, name, name, n)
		}
		asTheLibrary(t, "{"+strings.TrimPrefix(text, ",")+"}")
	})
}
