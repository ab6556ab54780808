package journal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTimesAreWrittenAsTheLibraryWritesThem(t *testing.T) {
	var d days
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{
		noon, noon.Add(time.Nanosecond), noon.Add(-1), noon.Add(120 * time.Millisecond), noon.Add(12 * time.Hour), noon.Add(12*time.Hour - 1),
		{}, time.Unix(0, 0), time.Unix(-1, 999_999_999), noon.In(time.FixedZone("", 3600)), noon.AddDate(9000, 0, 0),
	} {
		require.Equal(t, at.UTC().Format(time.RFC3339Nano), string(d.append(nil, at)))
	}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62_000_000_000, 260_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		for range 3 {
			require.Equal(t, at.UTC().Format(time.RFC3339Nano), string(d.append(nil, at)))
			at = at.Add(time.Duration(rapid.Int64Range(-1e14, 1e14).Draw(t, "later")))
		}
	})
}

// Years of other than four digits are left to the library, which refuses them.
func TestYearsOfFourDigitsAreWritten(t *testing.T) {
	for year, written := range map[int]bool{-12345: false, -999: false, -1: false, 0: true, 2030: true, 9999: true, 10000: false} {
		var w writer
		w.time(nil, `"at":"`, time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC))
		require.Equal(t, written, !w.odd, year)
	}
}
