package core

import (
	"context"
	"testing"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

type placed struct {
	Number string `json:"number"`
}

var placements = session.LogSlice[placed]("placements")

func withReducer() session.Config {
	keep := func(_ reducer.View[placed], e placed) (reducer.Change[placed], error) { return reducer.Append(e), nil }
	return session.Config{
		ID: "order-42", Slices: []session.Declared{placements},
		Reducers: []session.Reducer{session.On(placements, "placed", "placements.keep", keep)},
	}
}

// benchmarkRecorded makes a session of a hundred actions of three attempts each, with or without a reducer
// of their outcomes.
func benchmarkRecorded(b *testing.B, reduced bool) {
	cfg := session.Config{ID: "order-42"}
	if reduced {
		cfg = withReducer()
	}
	action, tried := loop.ToolCall(small.Tool), 0
	try := func(_ context.Context, a loop.Attempt) (placed, error) {
		if tried++; a.Number < 3 {
			return placed{}, wrong
		}
		return placed{"R-1"}, nil
	}
	b.ReportAllocs()
	for b.Loop() {
		tried = 0
		s, err := session.New(cfg)
		if err != nil {
			b.Fatal(err)
		}
		for range 100 {
			done, err := loop.Do(b.Context(), s, action, try)
			if err != nil {
				b.Fatal(err)
			}
			if reduced {
				dispatch(b, s, done)
			}
		}
		if tried != 300 {
			b.Fatal(tried)
		}
	}
}

func dispatch(b *testing.B, s *session.Session, done placed) {
	e, err := session.NewEvent("placed", done)
	if err == nil {
		err = s.Dispatch(e)
	}
	if err != nil {
		b.Fatal(err)
	}
}
