package packed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/packed"
)

type stop struct {
	number int64
	name   string
	kind   string
	at     time.Time
	open   bool
}

func (s *stop) lay(r *packed.Room) {
	packed.Int(r, &s.number)
	packed.Text(r, &s.name)
	packed.Word(r, &s.kind, "quay", "lock")
	packed.Time(r, &s.at)
	packed.Flag(r, &s.open)
}

func Example() {
	var in packed.Room
	(&stop{3, "harbour", "lock", time.Date(2026, 7, 1, 8, 30, 0, 0, time.UTC), true}).lay(&in)
	out, from := stop{}, packed.From(in.String())
	out.lay(&from)
	fmt.Println(len(in.String()), out.number, out.name, out.kind, out.at, out.open)
	// Output: 17 3 harbour lock 2026-07-01 08:30:00 +0000 UTC true
}

// What is laid is taken as it was, whatever stands beside it.
func TestWhatIsLaidIsTaken(t *testing.T) {
	stops := rapid.SliceOf(rapid.Custom(func(t *rapid.T) stop {
		at := time.Unix(rapid.Int64Range(-1<<36, 1<<36).Draw(t, "sec"), rapid.Int64Range(0, 1e9-1).Draw(t, "nsec")).UTC()
		if rapid.Bool().Draw(t, "unknown") {
			at = time.Time{}
		}
		return stop{
			number: rapid.Int64().Draw(t, "number"), name: rapid.String().Draw(t, "name"),
			kind: rapid.SampledFrom([]string{"", "quay", "lock", "ford"}).Draw(t, "kind"), at: at, open: rapid.Bool().Draw(t, "open"),
		}
	}))
	rapid.Check(t, func(t *rapid.T) {
		want, in := stops.Draw(t, "stops"), packed.Room{}
		for _, s := range want {
			s.lay(&in)
		}
		from := packed.From(in.String())
		for _, s := range want {
			var got stop
			got.lay(&from)
			require.Equal(t, s, got)
		}
		require.True(t, from.Takes())
		require.False(t, in.Takes())
	})
}
