package ratelimit

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/httphint"
)

// Count is a number that may be unknown. The zero value is unknown; with omitzero it is absent from JSON.
type Count struct {
	N     int64
	Known bool
}

// Of returns a known count.
func Of(n int64) Count { return Count{N: n, Known: true} }

// MarshalJSON writes a number, or null if unknown.
func (c Count) MarshalJSON() ([]byte, error) {
	if !c.Known {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, c.N, 10), nil
}

// UnmarshalJSON reads a whole number or null.
func (c *Count) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		*c = Count{}
		return nil
	}
	n, err := httphint.Count(string(b))
	if err != nil {
		return fmt.Errorf("want a whole number of 0 or more, or null, got %s: %w", clip(string(b)), err)
	}
	*c = Of(n)
	return nil
}

// Span is a duration that may be unknown. In JSON it is a decimal number of seconds. The zero value is
// unknown; a known 0 means "at once".
type Span struct {
	Duration time.Duration
	Known    bool
}

// In returns a known span.
func In(d time.Duration) Span { return Span{Duration: d, Known: true} }

// longer returns the longer span.
func (s Span) longer(o Span) Span {
	if o.Known && (!s.Known || o.Duration > s.Duration) {
		return o
	}
	return s
}

// MarshalJSON writes seconds, exact to the nanosecond, or null if unknown.
func (s Span) MarshalJSON() ([]byte, error) {
	if !s.Known {
		return []byte("null"), nil
	}
	return appendSeconds(nil, int64(s.Duration/time.Second), int64(s.Duration%time.Second)), nil
}

// UnmarshalJSON reads a number of seconds or null.
func (s *Span) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		*s = Span{}
		return nil
	}
	d, err := httphint.Seconds(string(b))
	if err != nil {
		return fmt.Errorf("want a number of seconds of 0 or more, or null, got %s: %w", clip(string(b)), err)
	}
	*s = In(d)
	return nil
}

// Date is a time that may be unknown. In JSON it is a decimal number of seconds since the epoch. The zero
// value is unknown. Times are in UTC without a monotonic reading, so == compares them.
type Date struct{ Time time.Time }

// MarshalJSON writes seconds since the epoch, or null if unknown.
func (d Date) MarshalJSON() ([]byte, error) {
	if d.Time.IsZero() {
		return []byte("null"), nil
	}
	return appendSeconds(nil, d.Time.Unix(), int64(d.Time.Nanosecond())), nil
}

// errEpoch is the error for a date that is not a number of seconds since the epoch.
var errEpoch = errors.New("want a number of seconds since the epoch, or null")

// UnmarshalJSON reads seconds since the epoch, or null.
func (d *Date) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		*d = Date{}
		return nil
	}
	at, err := httphint.Epoch(string(b))
	if err != nil {
		return fmt.Errorf("%w, got %s", errEpoch, clip(string(b)))
	}
	*d = Date{at}
	return nil
}

// appendSeconds writes seconds and nanoseconds as one decimal number. Before the epoch, seconds are negative
// and nanoseconds count up.
func appendSeconds(b []byte, seconds, nanos int64) []byte {
	if seconds < 0 && nanos > 0 {
		seconds, nanos = seconds+1, int64(time.Second)-nanos
		if seconds == 0 {
			b = append(b, '-')
		}
	}
	b = strconv.AppendInt(b, seconds, 10)
	if nanos == 0 {
		return b
	}
	return append(b, strings.TrimRight(fmt.Sprintf(".%09d", nanos), "0")...)
}

func isNull(b []byte) bool { return bytes.Equal(bytes.TrimSpace(b), []byte("null")) }

// clip limits the text quoted in an error or an Ignored.
func clip(s string) string { return canon.UTF8(canon.Cut(s, 128)) }
