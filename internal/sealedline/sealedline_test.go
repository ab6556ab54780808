package sealedline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/sealedline"
)

var hash = strings.Repeat("0af9", 8)

func TestALineIsReadAsItWasWritten(t *testing.T) {
	for _, l := range []sealedline.Line{
		{Hash: hash, Key: "k1", Session: `a/"Ä", "sealed":"x <b>`, Sealed: []byte("anything\x00")},
		{Hash: hash, Key: strings.Repeat("k", 64), Sealed: []byte("x")},
		{Key: "A.b_c-9", Sealed: []byte{}},
	} {
		text, err := l.Append(nil)
		require.NoError(t, err)
		got, err := sealedline.Parse(text)
		require.NoError(t, err, "%s", text)
		if len(l.Sealed) == 0 {
			l.Sealed, got.Sealed = nil, nil
		}
		assert.Equal(t, l, got)
	}
}

func TestWhatIsNoSealedLineIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "{", `{"hash":"` + hash + `","record":{}}`, `{"hash":"` + hash + `","key":"k","sealed":"eA=="} `,
		`{"hash":"` + hash[1:] + `","key":"k","sealed":"eA=="}`, `{"hash":"` + strings.ToUpper(hash) + `","key":"k","sealed":"eA=="}`,
		`{"hash":"` + hash + `","key":"","sealed":"eA=="}`, `{"hash":"` + hash + `","key":"a b","sealed":"eA=="}`,
		`{"hash":"` + hash + `","key":"k","session":"","sealed":"eA=="}`, `{"hash":"` + hash + `","key":"k","session":7,"sealed":"eA=="}`,
		`{"hash":"` + hash + `","key":"k","sealed":"eA=="`, `{"hash":"` + hash + `","key":"k","sealed":"eA"}`,
		`{"hash":"` + hash + `","key":"k","sealed":"eB=="}`, "{\"hash\":\"" + hash + "\",\"key\":\"k\",\"sealed\":\"e\nA==\"}",
		`{"hash":"` + hash + `","key":"k" ,"sealed":"eA=="}`, `{"hash":"` + hash + `","key":"k","session":"\u0061","sealed":"eA=="}`,
	} {
		_, err := sealedline.Parse([]byte(text))
		assert.Error(t, err, "%s", text)
	}
}

// What is read is written as it was: a line has one form.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"hash":"` + hash + `","key":"k","session":"order-42","sealed":"eA=="}`))
	f.Add([]byte(`{"key":"k","sealed":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := sealedline.Parse(text)
		if err != nil {
			return
		}
		again, err := l.Append(nil)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	})
}
