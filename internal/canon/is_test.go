package canon_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/canon"
)

func TestOneFormForEachValue(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1,"aa":[true,false,null,-0.5e+10],"b":{"":"é\n\"\\"}}`: true,
		`[]`:           true,
		`[{},[],"",0]`: true,
		strings.Repeat("[", 33) + strings.Repeat("]", 33): true,
		`{"é":1}`:       true,
		`{"b":1,"a":2}`: false,
		`{"a":1,"a":2}`: false,
		`{"a": 1}`:      false,
		`"\/"`:          false,
		`"\u0061"`:      false,
		"\"\xff\"":      false,
		"\"\n\"":        false,
		`"a`:            false,
		`"\`:            false,
		`{"a"`:          false,
		`{"a":1`:        false,
		`{"a":1 `:       false,
		`{"a":1,}`:      false,
		`[1,]`:          false,
		`[1`:            false,
		`01`:            false,
		`1.`:            false,
		`1e`:            false,
		`-`:             false,
		`nul`:           false,
		`1 `:            false,
		`1,2`:           false,
		``:              false,
	} {
		got, err := canon.JSON([]byte(text))
		assert.Equal(t, want, err == nil && string(got) == text, text)
	}
}
