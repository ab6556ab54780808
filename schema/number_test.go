package schema_test

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/schema"
)

// Comparing numbers by their digits is exact. Equal numbers are written alike.
func TestNumbersAreComparedExactly(t *testing.T) {
	integer, err := schema.Compile([]byte(`{"type":"integer"}`))
	require.NoError(t, err)
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,2}0{0,2})(\.0{0,2}[0-9]{1,3}0{0,2})?([eE][+-]?[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, ok := new(big.Rat).SetString(a)
		require.True(t, ok)
		y, ok := new(big.Rat).SetString(b)
		require.True(t, ok)
		compared, first, second := schema.CompareNumbers(a, b)
		assert.Equal(t, x.Cmp(y), compared, "%s %s", a, b)
		assert.Equal(t, x.Cmp(y) == 0, first == second, "%s %s", first, second)
		assert.Equal(t, x.IsInt(), integer.Check([]byte(a)) == nil, a)
		if x.IsInt() {
			assert.Equal(t, x.RatString(), first)
		}
	})
}

func TestNumbersOfOneDoubleAreComparedExactly(t *testing.T) {
	numbers := []string{
		"0", "-0", "0.0", "1e-350", "0.1", "0.10", "1e-1", "0.10000000000000001", "0.1000000000000000055511151231257827", "123456789012345",
		"123456789012345.0", "123456789012345.01", "9007199254740992", "9007199254740993", "9007199254740992.0", "9.007199254740992e15", "1e400",
	}
	for _, a := range numbers[:len(numbers)-1] {
		for _, b := range numbers {
			x, _ := new(big.Rat).SetString(a)
			y, _ := new(big.Rat).SetString(b)
			compared, _, _ := schema.CompareNumbers(a, b)
			assert.Equal(t, x.Cmp(y), compared, "%s %s", a, b)
		}
	}
}

// A number is held to its rules as it is in Go, too.
func TestNumbersAreRounded(t *testing.T) {
	typed, err := schema.For[struct {
		Above float64 `json:"above" validate:"gt=9007199254740992"`
	}]()
	require.NoError(t, err)
	for number, isAbove := range map[string]bool{"9007199254740993": false, "9007199254740994": true, "9007199254740993.5": true} {
		_, issues := typed.Decode([]byte(`{"above":` + number + `}`))
		assert.Equal(t, isAbove, issues == nil, "%s %s", number, issues)
	}
}

// A multiple is found without writing either number out.
func TestMultiplesAreExact(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,3}0{0,2})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, of := number.Draw(t, "number"), rapid.SampledFrom([]string{"1", "3", "0.01", "2.5", "1e5", "7e-12", "1e-300", "16", "0.125"}).Draw(t, "of")
		s, err := schema.Compile([]byte(`{"multipleOf":` + of + `}`))
		require.NoError(t, err)
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(of)
		assert.Equal(t, x.Quo(x, y).IsInt(), s.Check([]byte(a)) == nil, "%s of %s", a, of)
	})
}

// A number is of ordinary size if it is within the range of a double, has an exponent of at most 400 either
// way and no more than 1,000 bytes.
func TestNumbersOfOrdinarySize(t *testing.T) {
	digits := rapid.StringMatching(`[1-9][0-9]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		zeros := strings.Repeat("0", rapid.IntRange(0, 400).Draw(t, "zeros"))
		exponent := rapid.IntRange(-410, 410).Draw(t, "exponent")
		for _, form := range []string{"%[1]s%[2]se%[3]d", "0.%[2]s%[1]sE%[3]d", "-%[1]s.%[2]s5e%[3]d"} {
			text := fmt.Sprintf(form, digits.Draw(t, "digits"), zeros, exponent)
			_, err := strconv.ParseFloat(text, 64)
			want := err == nil && -400 <= exponent && exponent <= 400
			assert.Equal(t, want, schema.Strict([]byte(text), schema.DefaultLimits()) == nil, text)
		}
	})
}

// What is to be known of a number is read from its digits: those of very small numbers are long to write out.
func TestVerySmallNumbersAreNotWrittenOut(t *testing.T) {
	list := func(number string) []byte { return []byte("[" + strings.Repeat(number+",", 10_000) + number + "]") }
	read := func(number string) float64 {
		doc := list(number)
		return testing.AllocsPerRun(3, func() { schema.Strict(doc, schema.DefaultLimits()) })
	}
	assert.InDelta(t, read("0.125"), read("1e-308"), 100)
}
