package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
)

// A call in a process whose shares were lent: asked for, granted and settled.
func BenchmarkGrantFromLease(b *testing.B) {
	st, _ := limit.New(limit.Config{Shared: true})
	at := time.Unix(0, 0)
	b.ReportAllocs()
	id := int64(0)
	for b.Loop() {
		if len(st.Slots) == 0 {
			st, _ = limit.Step(st, limit.Event{Kind: limit.Lent, At: at, Share: limit.Share{ID: 1, From: at, Every: time.Microsecond, Calls: 1 << 40}})
		}
		id++
		at = at.Add(time.Microsecond)
		st, _ = limit.Step(st, limit.Event{Kind: limit.Ask, ID: id, At: at, Tokens: 100})
		st, _ = limit.Step(st, limit.Event{Kind: limit.Settle, ID: id, At: at, Tokens: 80, Outcome: limit.Served})
	}
	if len(st.Out) > 0 {
		b.Fatal("all are settled")
	}
}

// The same in one process alone, with a window, while many wait.
func BenchmarkGrantAmongWaiting(b *testing.B) {
	st, _ := limit.New(limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1_000_000, Period: time.Second}}})
	at := time.Unix(0, 0)
	const waiting = 100_000
	for id := range int64(waiting) {
		st, _ = limit.Step(st, limit.Event{Kind: limit.Ask, ID: id, At: at, Tokens: 100})
	}
	id, out := int64(waiting), []int64{}
	b.ReportAllocs()
	for b.Loop() {
		id++
		at = at.Add(2 * time.Microsecond)
		var fx []limit.Effect
		st, fx = limit.Step(st, limit.Event{Kind: limit.Ask, ID: id, At: at, Tokens: 100})
		out = out[:0]
		for _, e := range fx {
			out = append(out, e.Share.ID)
		}
		for _, id := range out {
			st, _ = limit.Step(st, limit.Event{Kind: limit.Settle, ID: id, At: at, Tokens: 80, Outcome: limit.Served})
		}
	}
}

func TestAGrantFromALeaseIsOneAllocation(t *testing.T) {
	st, err := limit.New(limit.Config{Shared: true})
	require.NoError(t, err)
	at, id := time.Unix(0, 0), int64(0)
	lent := limit.Share{ID: 1, From: at, Every: time.Microsecond, Calls: 1 << 40}
	st, _ = limit.Step(st, limit.Event{Kind: limit.Lent, At: at, Share: lent})
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		id++
		at = at.Add(time.Microsecond)
		var fx []limit.Effect
		if st, fx = limit.Step(st, limit.Event{Kind: limit.Ask, ID: id, At: at}); len(fx) == 0 {
			t.Error("it is granted at once")
		}
		st, _ = limit.Step(st, limit.Event{Kind: limit.Settle, ID: id, At: at, Outcome: limit.Served})
	}), 1.0)
}
