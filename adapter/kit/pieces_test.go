package kit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/adapter/kit"
)

func TestACharacterThatIsCutInTwoIsPutTogether(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"bytes":               {[]string{"\"2 \xe2\"", "\"\x82\"", "\"\xac!\""}, "2 €!"},
		"escapes":             {[]string{`"a\ud83d"`, `"\ude00b"`}, "a😀b"},
		"nothing is cut":      {[]string{`"a\u20ac"`, `"€\\ud83d"`}, `a€€\ud83d`},
		"it is never ended":   {[]string{"\"a\xe2\"", `"b"`}, "a\ufffdb"},
		"no string":           {[]string{`null`, `7`, ``, `"a"`}, "a"},
		"an escape by itself": {[]string{`"\ud83d"`, `"x"`}, "\ufffdx"},
	} {
		var p kit.Pieces
		var got strings.Builder
		for _, piece := range c.pieces {
			got.WriteString(p.Add(json.RawMessage(piece)))
		}
		assert.Equal(t, c.want, got.String(), name)
	}
}

// However a text is cut, its pieces are the text.
func TestLawPiecesAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		raw, _ := json.Marshal(text)
		inside := raw[1 : len(raw)-1]
		var p kit.Pieces
		got := ""
		for from := 0; from < len(inside); {
			to := rapid.IntRange(from+1, len(inside)).Draw(t, "to")
			// A server cuts between bytes of a character, but not within an escape.
			for to < len(inside) && !json.Valid([]byte(`"`+string(inside[from:to])+`"`)) {
				to++
			}
			got += p.Add([]byte(`"` + string(inside[from:to]) + `"`))
			from = to
		}
		if got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
