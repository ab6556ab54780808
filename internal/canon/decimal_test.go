package canon_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
)

func TestDecimals(t *testing.T) {
	nines := strings.Repeat("9", 30)
	for in, want := range map[string]string{
		`100`: `100`, `100.0`: `100`, `1e2`: `100`, `1E+2`: `100`, `0.1e3`: `100`, `10000e-2`: `100`, `100.000e0`: `100`,
		`0`: `0`, `-0`: `0`, `0.000`: `0`, `-0e99`: `0`, `-1.50`: `-1.5`, `0.00125`: `0.00125`, `125e-5`: `0.00125`,
		`1e20`: `100000000000000000000`, `1e21`: `1e21`, `1000000000000000000000`: `1e21`, `1e-20`: `0.00000000000000000001`, `1e-21`: `1e-21`,
		`1e999999999`: `1e999999999`, `10e999999998`: `1e999999999`, `0.1e1000000000`: `1e999999999`,
		`1e` + nines: `1e` + nines, `-10e` + nines: `-10e` + nines, `1e-` + nines: `1e-` + nines, `0e` + nines: `0`,
		`1e00000000000000000000000000000000000002`: `100`,
		`9007199254740993`:                         `9007199254740993`, `9007199254740993.0`: `9007199254740993`, `0.1`: `0.1`, `0.10000000000000001`: `0.10000000000000001`,
		`{"a":1.0,"b":["1.0","\"2.0",-2e0]}`: `{"a":1,"b":["1.0","\"2.0",-2]}`, `true`: `true`, `"1.0`: `"1.0`, ``: ``,
	} {
		assert.Equal(t, want, string(canon.Decimals([]byte(in))), in)
	}
}

// Arguments whose numbers are in this form are hashed as they are.
func TestNumbersInTheirFormAreNotCopied(t *testing.T) {
	raw := []byte(`{"a":19.99,"b":-0.05,"c":[0.5,100,-7]}`)
	assert.Same(t, &raw[0], &canon.Decimals(raw)[0])
}

// drawNumber draws a JSON number.
func drawNumber() *rapid.Generator[string] {
	return rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?`)
}

// Two numbers have one form if and only if they have one value.
func TestDecimalsAreAsTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawNumber().Draw(t, "a")
		x, ok := new(big.Rat).SetString(a)
		require.True(t, ok)
		b := rapid.OneOf(drawNumber(), rapid.Just(x.FloatString(30)), rapid.Custom(func(t *rapid.T) string {
			shift := rapid.IntRange(-30, 30).Draw(t, "shift")
			return scaled(x, shift)
		})).Draw(t, "b")
		y, ok := new(big.Rat).SetString(b)
		require.True(t, ok)
		form, other := string(canon.Decimals([]byte(a))), string(canon.Decimals([]byte(b)))
		assert.Equal(t, x.Cmp(y) == 0, form == other, "%s and %s", form, other)
		z, ok := new(big.Rat).SetString(form)
		require.True(t, ok, form)
		assert.Zero(t, x.Cmp(z), form)
		assert.Equal(t, form, string(canon.Decimals([]byte(form))))
	})
}

// scaled writes a value with another exponent; cut to 400 places.
func scaled(x *big.Rat, shift int) string {
	ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil))
	if shift > 0 {
		return fmt.Sprintf("%se%d", new(big.Rat).Quo(x, ten).FloatString(400), shift)
	}
	return fmt.Sprintf("%se%d", new(big.Rat).Mul(x, ten).FloatString(400), shift)
}

// Whatever the text, the form is stable, and not much longer.
func FuzzDecimals(f *testing.F) {
	for _, seed := range []string{`{"a":1e2,"b":[-0.0,1e999999999]}`, `"\`, `1e`, `--1`, `1.2.3e4e5`, `1e-99999999999999999999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := string(raw)
		form := canon.Decimals(raw)
		assert.Equal(t, before, string(raw))
		if _, err := canon.JSON(raw); err != nil {
			return
		}
		assert.LessOrEqual(t, len(form), len(raw)*24)
		again := canon.Decimals(form)
		assert.Equal(t, string(form), string(again))
		if _, err := canon.JSON(form); err != nil {
			t.Errorf("%s became %s: %v", raw, form, err)
		}
	})
}
