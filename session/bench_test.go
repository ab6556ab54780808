package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// logOf is a state with n entries of feedback.
func logOf(n int) session.State {
	f := toolFeedback("book", 1)
	var s session.State
	for range n {
		s = s.AddFeedback(f)
	}
	return s
}

func TestFindingTheNewestFeedbackCopiesNothing(t *testing.T) {
	s := logOf(1000)
	attempts := 0
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		f, _ := newest(s)
		attempts += f.Attempt
	}))
}

func TestAppendingToLogsIsAmortised(t *testing.T) {
	f := toolFeedback("book", 1)
	f.Issues = nil // the log is measured, not the cleaning of issues
	allocs := testing.AllocsPerRun(1, func() {
		var s session.State
		for range 100_000 {
			s = s.AddFeedback(f)
		}
	})
	assert.Less(t, allocs, 200.0, "a few blocks for 100,000 entries")
}

func BenchmarkAppend100kFeedback(b *testing.B) {
	f := toolFeedback("book", 1)
	b.ReportAllocs()
	for b.Loop() {
		var s session.State
		for range 100_000 {
			s = s.AddFeedback(f)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/append")
}

func BenchmarkLatestFeedback(b *testing.B) {
	s := logOf(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := newest(s); !ok {
			b.Fatal("none")
		}
	}
}

func newest(s session.State) (feedback.RetryFeedback, bool) {
	for f := range s.NewestFeedback() {
		return f, true
	}
	return feedback.RetryFeedback{}, false
}

func BenchmarkIterate100kFeedback(b *testing.B) {
	s := logOf(100_000)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, f := range s.Feedback() {
			n += f.Attempt
		}
		if n != 100_000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkIterate100kValues(b *testing.B) {
	values := make([]string, 100_000)
	for i := range values {
		values[i] = `{"qty":1,"sku":"tea"}`
	}
	cfg := cartConfig()
	state := must(must(session.NewState("order-42", cart)).Apply([]reducer.Op{op("cart", "extend", values...)}))
	s := must(session.Restore(cfg, must(state.Snapshot())))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, line := range session.View(s.State(), cart).All() {
			n += line.Qty
		}
		if n != 100_000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkDispatch(b *testing.B) {
	s := must(session.New(cartConfig()))
	e := event("item_added", `{"qty":1,"sku":"tea"}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Dispatch(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshotAndRestore(b *testing.B) {
	s := must(session.New(cartConfig()))
	for range 100 {
		if err := s.Dispatch(event("item_added", `{"qty":1,"sku":"tea"}`)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := session.Restore(cartConfig(), must(s.Snapshot())); err != nil {
			b.Fatal(err)
		}
	}
}
