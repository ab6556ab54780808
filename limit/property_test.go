package limit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/limit"
)

// play lets sessions ask, settle, fail and vanish at random, and returns when each ask was granted.
func play(t *rapid.T, c limit.Config, st limit.State) (grants []time.Duration, after limit.State, asked, denied int) {
	var now time.Duration
	var out []int64
	next := int64(0)
	handle := func(fx []limit.Effect) {
		for _, e := range fx {
			switch e.Kind {
			case limit.Grant:
				grants = append(grants, now)
				out = append(out, e.Share.ID)
			case limit.Deny:
				denied++
			}
		}
	}
	step := func(ev limit.Event) {
		ev.At = time.Unix(0, 0).Add(now)
		var fx []limit.Effect
		st, fx = limit.Step(st, ev)
		handle(fx)
	}
	outcomes := []limit.Outcome{limit.Served, limit.Served, limit.Served, limit.Refused, limit.Down, limit.Unused}
	for range rapid.IntRange(1, 80).Draw(t, "events") {
		now += time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case kind < 2:
			next++
			asked++
			step(limit.Event{
				Kind: limit.Ask, ID: next, Tokens: rapid.Int64Range(0, 2000).Draw(t, "tokens"),
				Priority: rapid.IntRange(-2, 2).Draw(t, "priority"), Turn: rapid.Int64Range(0, 20).Draw(t, "turn"),
				Retry: rapid.Bool().Draw(t, "retry"),
			})
		case kind == 2 && len(out) > 0:
			n := rapid.IntRange(0, len(out)-1).Draw(t, "which")
			id := out[n]
			out = slices.Delete(out, n, n+1)
			step(limit.Event{Kind: limit.Settle, ID: id, Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome")})
		default:
			step(limit.Event{Kind: limit.Tick})
		}
	}
	for range 100_000 { // nobody settles anything anymore
		at, waits := st.Next()
		if !waits {
			break
		}
		now = max(now, at.Sub(time.Unix(0, 0)))
		step(limit.Event{Kind: limit.Tick})
	}
	return grants, st, asked, denied
}

func config(t *rapid.T) limit.Config {
	return limit.Config{
		Windows: []limit.Window{
			{Resource: "requests", Limit: rapid.Int64Range(1, 20).Draw(t, "requests"), Period: time.Second},
			{Resource: "tokens", Limit: rapid.Int64Range(1000, 100_000).Draw(t, "limit"), Period: time.Minute},
		},
		Concurrency: rapid.Int64Range(0, 5).Draw(t, "concurrency"),
		Hold:        time.Minute,
	}
}

// Whatever happens, no second has more grants than its window allows, and all that wait are granted in the
// end: a lost call, a lost probe and a throttled retry only take their time.
func TestNeverAboveTheWindowAndNobodyStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config(t)
		st, err := limit.New(c)
		require.NoError(t, err)
		grants, st, asked, denied := play(t, c, st)
		require.Equal(t, 0, st.Waiting())
		require.Equal(t, asked, len(grants)+denied)
		per := int(c.Windows[0].Limit)
		for n := per; n < len(grants); n++ {
			require.Greater(t, grants[n]-grants[n-per], time.Second, "%d and %d", n-per, n)
		}
		if c.Concurrency > 0 {
			require.LessOrEqual(t, st.InFlight, c.Concurrency)
		}
	})
}

// The same events give the same grants, also if the state is copied on the way.
func TestTheSameEventsGiveTheSameGrants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config(t)
		one, _ := limit.New(c)
		two, _ := limit.New(c)
		at := time.Unix(0, 0)
		for n := range rapid.IntRange(1, 100).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
			ev := limit.Event{
				Kind: rapid.SampledFrom([]limit.EventKind{limit.Ask, limit.Ask, limit.Settle, limit.Leave, limit.Tick, limit.Lent, "?"}).Draw(t, "kind"),
				At:   at, ID: rapid.Int64Range(0, int64(n)).Draw(t, "id"), IDs: []int64{int64(n) / 2}, Calls: rapid.Int64().Draw(t, "calls"),
				Tokens: rapid.Int64().Draw(t, "tokens"), Turn: rapid.Int64().Draw(t, "turn"), Shared: rapid.Bool().Draw(t, "shared"), Place: time.Duration(rapid.Int64().Draw(t, "place")),
				Outcome: rapid.SampledFrom([]limit.Outcome{limit.Served, limit.Refused, limit.Down, limit.Unused, ""}).Draw(t, "outcome"),
			}
			two = two.Clone()
			var a, b []limit.Effect
			one, a = limit.Step(one, ev)
			two, b = limit.Step(two, ev)
			require.Equal(t, a, b)
			require.GreaterOrEqual(t, one.InFlight, int64(0))
			require.GreaterOrEqual(t, one.Reserved, int64(0))
		}
	})
}
