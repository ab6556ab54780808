package backoff_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

func TestParseDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want backoff.Decimal
		show string
	}{
		{"0", 0, "0"},
		{"0.0", 0, "0"},
		{"2", 2_000_000_000, "2"},
		{"1.5", 1_500_000_000, "1.5"},
		{"0.2", 200_000_000, "0.2"},
		{"0.000000001", 1, "0.000000001"},
		{"1.000000001", 1_000_000_001, "1.000000001"},
		{"1.50000000000000", 1_500_000_000, "1.5"},
		{"1e3", 1_000_000_000_000, "1000"},
		{"1E+06", 1_000_000_000_000_000, "1000000"},
		{"25e-1", 2_500_000_000, "2.5"},
		{"1000000000e-18", 1, "0.000000001"},
		{"0.0000001e2", 10_000, "0.00001"},
		{"9223372036.854775807", math.MaxInt64, "9223372036.854775807"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, err := backoff.ParseDecimal(c.text)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.show, got.String())
			assert.Equal(t, c.want, backoff.Dec(c.text))
		})
	}
}

func TestParseDecimalRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "1 ", " 1", "-1", "-0", "+1", "NaN", "nan", ".nan", "Inf", "inf", "-Inf", ".inf", "1.", ".5", ".", "01", "00",
		"0x10", "1_000", "1,5", "1.5.1", "1.0000000001", "0.0000000009", "1e-10", "9223372036.854775808", "9223372037",
		"1e10", "1e19", "1e999", "1e9999", "1e-9999", "1e9999999", "1e-9999999", "1e", "e3", "1e+-3", "1e1.5", "１", "1\x00", strings.Repeat("1", 65),
		"0." + strings.Repeat("0", 100),
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			d, err := backoff.ParseDecimal(text)
			require.ErrorContains(t, err, "want a decimal from 0 to 9223372036.854775807 with at most 9 decimals")
			assert.Zero(t, d)
			assert.Less(t, len(err.Error()), 250)
			assert.Panics(t, func() { backoff.Dec(text) })
		})
	}
}

func TestDecimalRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := backoff.Decimal(rapid.Int64Min(0).Draw(t, "d"))
		assert.Equal(t, d, backoff.Dec(d.String()))
		data, err := json.Marshal(d)
		require.NoError(t, err)
		assert.Equal(t, d.String(), string(data))
		for _, form := range []string{string(data), `"` + d.String() + `"`} {
			var back backoff.Decimal
			require.NoError(t, json.Unmarshal([]byte(form), &back))
			assert.Equal(t, d, back)
		}
	})
}

func TestDecimalJSONRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`null`, `true`, `{}`, `[1]`, `""`, `"NaN"`, `-1`, `"1.5 "`, `1.0000000001`, `1e400`, `"`, ``} {
		d := backoff.Decimal(7)
		require.ErrorContains(t, d.UnmarshalJSON([]byte(text)), "want a decimal", text)
		assert.Equal(t, backoff.Decimal(7), d)
	}
	_, err := json.Marshal(backoff.Decimal(-1))
	assert.ErrorContains(t, err, "got -0.000000001")
	assert.Equal(t, "-9223372036.854775808", backoff.Decimal(math.MinInt64).String())
}
