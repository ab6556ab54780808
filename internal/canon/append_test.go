package canon_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
)

// FuzzAppend holds what is appended to what the library makes of it.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[true,null,{}],"c":"x"}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `[1.50,-0,1e3,01,9007199254740993]`, `"é<&>\u2028\u0001\/"`,
		"\"\xff\"", ` {"a" : 1}`, `[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]`, `-`, `{`, `{"a"`, `""x`, "", `{"a":,}`, `[,]`, `[1,]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := canon.JSON([]byte(text))
		got, ok := canon.AppendJSON(nil, []byte(text))
		assert.Equal(t, err == nil, ok)
		if ok {
			assert.Equal(t, string(want), string(got))
		}
		want, err = canon.Marshal(text)
		got, ok = canon.AppendString(nil, text)
		assert.Equal(t, err == nil, ok)
		if ok {
			assert.Equal(t, string(want), string(got))
		}
	})
}

func TestWhatIsAppendedIsWhatTheLibraryWrites(t *testing.T) {
	pieces := []string{`{`, `}`, `[`, `]`, `,`, `:`, `"a"`, `"b"`, `""`, `1`, `-1`, `0`, `-0`, `01`, `true`, `null`, `1.0`, ` `, `"é"`, `"\n"`}
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(1, 9).Draw(t, "pieces") {
			text += rapid.SampledFrom(pieces).Draw(t, "piece")
		}
		want, err := canon.JSON([]byte(text))
		got, ok := canon.AppendJSON(nil, []byte(text))
		assert.Equal(t, err == nil, ok, text)
		if ok {
			assert.Equal(t, string(want), string(got))
		}
	})
}
