// Package scenarios is a program with its own tool, reducer and policy. Its tests are stories: files in
// testdata with what a model replies and what happens then. See scenarios_test.go.
package scenarios

import (
	"context"
	"errors"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Stay is the argument of the tool.
type Stay struct {
	City   string `json:"city" validate:"oneof=Lisbon Porto"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

// Booked is what the session keeps of each stay.
type Booked struct {
	City   string `json:"city"`
	Nights int    `json:"nights"`
}

// MaxNights is the largest number of nights that a guest may book in one session.
const MaxNights = 40

var stays = session.StateSlice[Booked]("stays")

// keep is a reducer: a pure function of the slice and an event. Its error refuses the booking.
func keep(booked reducer.View[Booked], s Stay) (reducer.Change[Booked], error) {
	nights := s.Nights
	for _, b := range booked.All() {
		nights += b.Nights
	}
	if nights > MaxNights {
		return reducer.None[Booked](), errors.New("more nights than a guest may book")
	}
	return reducer.Append(Booked(s)), nil
}

// book is the tool. Porto is full, so the model is asked for another city.
func book(ctx context.Context, s Stay) (string, error) {
	if s.City == "Porto" {
		return "", tool.AskAgain(fault.Issue{Pointer: "/city", Rule: "full", Expected: "a city with free rooms"})
	}
	return "booked", tool.Emit(ctx, "stay_booked", s)
}

// Tools are the tools of the program.
func Tools() (*tool.Set, error) {
	return tool.NewSet(tool.New("book", "Books a stay.", book))
}

// Session is the config of the program's sessions.
func Session(id string) session.Config {
	return session.Config{
		ID: id, Slices: []session.Declared{stays},
		Reducers: []session.Reducer{session.On(stays, "stay_booked", "keep", keep)},
	}
}
