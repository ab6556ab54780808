package main

import (
	"errors"
	"io"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// during is a part of tasks that read journals of some time alone.
type during struct {
	Since instant `flag:"since TIME" help:"only what happened at TIME or later: a date, a time of RFC 3339, or how long ago (12h, 3d)"`
	Until instant `flag:"until TIME" help:"only what happened before TIME"`
}

// duringAbout says in help what is left out of journals.
const duringAbout = `With -since and -until the journals are left out in which nothing happened in that time. A date is its first
moment in UTC.`

// dated are the journals that a command is given, of some time alone.
type dated struct {
	journals
	during
}

func (d *dated) choose(e *env) error {
	err := d.during.choose(e)
	if err == nil {
		d.places, err = d.of(e, d.places)
	}
	return err
}

// instant is the value of -since and -until.
type instant struct{ time.Time }

// Set reads a time.
func (i *instant) Set(text string) (err error) {
	var ago age
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if i.Time, err = time.Parse(layout, text); err == nil {
			return nil
		}
	}
	if i.Time = time.Now(); ago.Set(text) != nil {
		return errors.New("give a date such as 2030-01-02, a time such as 2030-01-02T15:04:05Z, or how long ago, " +
			"such as 12h or 3d")
	}
	i.Time = i.Add(-time.Duration(ago))
	return nil
}

// bounded reports whether a time was given.
func (d *during) bounded() bool { return !d.Since.IsZero() || !d.Until.IsZero() }

// choose returns an error if the time is none.
func (d *during) choose(*env) error {
	if d.Until.IsZero() || d.Since.Before(d.Until.Time) {
		return nil
	}
	return misused("-since has to be before -until: %s is not before %s", d.Since.Format(time.RFC3339),
		d.Until.Format(time.RFC3339))
}

// has reports whether a moment is in the time.
func (d *during) has(at time.Time) bool {
	return !at.Before(d.Since.Time) && (d.Until.IsZero() || at.Before(d.Until.Time))
}

// of leaves out the journals in which nothing happened in the time.
func (d *during) of(e *env, all []place) (those []place, err error) {
	if !d.bounded() {
		return all, nil
	}
	for _, p := range all {
		if p.once() {
			return nil, misused("-since and -until are for stored journals: %s can be read once only", p.inErrors())
		}
		if d.touches(e, p) {
			those = append(those, p)
		}
	}
	if left := len(all) - len(those); left > 0 {
		e.note("%d of %s left out: nothing happened in that time", left, several.Of(len(all), "journal"))
	}
	return those, nil
}

// touches reports whether something happened in a journal in the time. What cannot be read may have, and is
// told.
func (d *during) touches(e *env, p place) bool {
	in, err := e.open(p)
	if err != nil {
		return true
	}
	defer func() { _ = in.Close() }() // it was only read
	for lines := journal.NewReader(in); ; {
		rec, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return false
		case err != nil || rec.Event != nil && d.has(rec.Event.At):
			return true
		case rec.Snapshot != nil:
			if st, err := machine.Restore(rec.Snapshot.State); err != nil || d.has(st.At) {
				return true
			}
		}
	}
}
