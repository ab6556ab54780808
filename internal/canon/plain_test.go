package canon_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
)

func TestIsUTF8AsTheLibrarySays(t *testing.T) {
	for n := range 40 {
		word := strings.Repeat("a", n)
		assert.True(t, canon.IsUTF8(word), n)
		for at := range n {
			assert.False(t, canon.IsUTF8(word[:at]+"\xff"+word[at+1:]), "%d of %d", at, n)
			assert.True(t, canon.IsUTF8(word[:at]+"é"+word[at+1:]), "%d of %d", at, n)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]byte("aaaaaa\x00\x7f\x80\xc3\xa9\xe2\x82\xac\xff"))).Draw(t, "text"))
		assert.Equal(t, utf8.ValidString(text), canon.IsUTF8(text))
	})
}
