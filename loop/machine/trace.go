package machine

import (
	"slices"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
)

// line is one step in canonical form, without observed times: what is the same wherever the run is made.
type line struct {
	Event   Event             `json:"event"`
	Effects []Effect          `json:"effects,omitempty"`
	Said    []message.Message `json:"said,omitempty"`
}

// Trace returns one step as a line of canonical JSON: the event, its effects, and the messages that it added
// to the transcript (see [State.TranscriptFrom]). Two drivers that make the same run give the same lines.
func Trace(ev Event, effects []Effect, said []message.Message) ([]byte, error) {
	ev.At = time.Time{}
	timeless := make([]Effect, len(effects))
	for n, e := range effects {
		timeless[n] = e.timeless()
	}
	return canon.Marshal(line{Event: ev, Effects: timeless, Said: said})
}

// timeless returns the effect without observed times.
func (e Effect) timeless() Effect {
	if e.Wait != nil {
		e.Wait = new(*e.Wait)
		e.Wait.Until = time.Time{}
	}
	e.Asks = slices.Clone(e.Asks)
	for n := range e.Asks {
		e.Asks[n].At, e.Asks[n].Deadline = time.Time{}, time.Time{}
	}
	if e.Settled != nil {
		e.Settled = new(*e.Settled)
		e.Settled.At, e.Settled.Ask.At, e.Settled.Ask.Deadline = time.Time{}, time.Time{}, time.Time{}
	}
	if d := e.Decision; d != nil && d.Feedback != nil && d.Feedback.Schedule != nil {
		d, fb, schedule := *d, *d.Feedback, *d.Feedback.Schedule
		schedule.At = time.Time{}
		fb.Schedule, d.Feedback, e.Decision = &schedule, &fb, &d
	}
	return e
}
