package httphint

import (
	"cmp"
	"errors"
	"math/big"
	"regexp"
	"strings"
	"time"
)

// MaxWait is the longest wait or window that is accepted, a little more than the longest billing period.
const MaxWait = 366 * 24 * time.Hour

// The limits between the meanings of a time as a bare number.
const (
	firstEpochSecond = 1_000_000_000     // 2001; smaller numbers are seconds from now
	firstEpochMilli  = 100_000_000_000   // smaller numbers are seconds since the epoch
	endOfEpochMillis = 4_102_444_800_000 // 2100; larger numbers are errors
)

// The errors of parsing a time.
var (
	errUnits   = errors.New("not a duration")
	errDate    = errors.New("not a date")
	errPast    = errors.New("in the past")
	errUnknown = errors.New("stands for unknown")
	errNoNow   = errors.New("a date, and the current time is not known")
	errZone    = errors.New("a date without a time zone")
)

// Seconds parses a number of seconds ("2", "0.25", "26.28409242630005"). Digits below a nanosecond are
// dropped.
func Seconds(s string) (time.Duration, error) { return scaledWait(s, 9) }

// Millis parses a number of milliseconds.
func Millis(s string) (time.Duration, error) { return scaledWait(s, 6) }

func scaledWait(s string, power int64) (time.Duration, error) {
	d, err := parseDecimal(strings.TrimSpace(s))
	if err != nil {
		return 0, err
	}
	return d.wait(power)
}

// wait returns the number times 10^power, in nanoseconds.
func (d *decimal) wait(power int64) (time.Duration, error) {
	n, err := d.scaled(power)
	if err != nil {
		return 0, err
	}
	return withinMaxWait(time.Duration(n))
}

func withinMaxWait(d time.Duration) (time.Duration, error) {
	if d > MaxWait {
		return 0, errAbsurd
	}
	return d, nil
}

// spanForm is a duration with units, largest first: its days, and the rest in Go's form.
var spanForm = regexp.MustCompile(strings.ReplaceAll(
	`^(?:(N)d)?((?:Nh)?(?:Nm)?(?:Ns)?(?:Nms)?(?:N[uµ]s)?(?:Nns)?)$`, "N", `(?:[0-9]+\.?[0-9]*|\.[0-9]+)`))

// Span parses a duration with units, largest first: "6m30s", "7.66s", "825ms", "1d2h", "1m26.4s".
func Span(s string) (time.Duration, error) {
	text := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
	if strings.HasPrefix(text, "-") {
		return 0, errNegative
	}
	parts := spanForm.FindStringSubmatch(text)
	if text == "" || parts == nil {
		return 0, errUnits
	}
	days, errDays := time.ParseDuration(cmp.Or(parts[1], "0") + "h")
	rest, errRest := time.ParseDuration(cmp.Or(parts[2], "0s"))
	if errDays != nil || errRest != nil || days > MaxWait || rest > MaxWait {
		return 0, errAbsurd
	}
	return withinMaxWait(24*days + rest)
}

// dateLayouts are the date formats of HTTP (RFC 9110), in GMT, and one with a numeric zone.
var dateLayouts = [...]string{
	"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", "Mon Jan _2 15:04:05 2006",
	"Mon, 02 Jan 2006 15:04:05 -0700",
}

// zoneless is RFC 3339 without a zone.
const zoneless = "2006-01-02T15:04:05"

// Date parses an HTTP date or an RFC 3339 time of this century. The result is in UTC.
func Date(s string) (time.Time, error) {
	t, err := anyDate(s)
	if err == nil && (t.Unix() < firstEpochSecond || t.UnixMilli() >= endOfEpochMillis) {
		return time.Time{}, errAbsurd
	}
	return t, err
}

func anyDate(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(s)); err == nil {
		return t.UTC(), nil
	}
	gmt := strings.Replace(s, " UTC", " GMT", 1)
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, gmt, time.UTC); err == nil {
			return t.UTC(), nil
		}
	}
	if len(s) >= len(zoneless) {
		if _, err := time.Parse(zoneless, strings.Replace(s[:len(zoneless)], " ", "T", 1)); err == nil {
			return time.Time{}, errZone
		}
	}
	return time.Time{}, errDate
}

// Moment is a point in time: relative to now, as a date, or both if the current time is known.
type Moment struct {
	// In is the time from now, valid if HasIn is set. It is never negative: a past date is now.
	In    time.Duration
	HasIn bool
	// At is the date in UTC; zero if unknown.
	At time.Time
}

// Reset parses the time at which a window resets, in any of the known forms: a duration with units, seconds,
// epoch seconds, epoch milliseconds, RFC 3339, an HTTP date. A bare 0 or -1 means unknown and is an error. A
// zero now means that the current time is unknown.
func Reset(s string, now time.Time) (Moment, error) {
	s = strings.TrimSpace(s)
	d, err := parseDecimal(s)
	switch {
	case s == "-1":
		return Moment{}, errUnknown
	case err == nil:
		return resetNumber(d, now)
	case errors.Is(err, errNegative):
		return Moment{}, errNegative
	}
	if span, err := Span(s); err == nil {
		return fromNow(span, now), nil
	} else if !errors.Is(err, errUnits) {
		return Moment{}, err
	}
	at, err := Date(s)
	if err != nil {
		return Moment{}, err
	}
	return atDate(at, now)
}

func resetNumber(d *decimal, now time.Time) (Moment, error) {
	seconds, err := d.scaled(0)
	if err != nil {
		return Moment{}, err
	}
	switch {
	case d.Sign() == 0:
		return Moment{}, errUnknown
	case seconds < firstEpochSecond:
		span, err := d.wait(9)
		if err != nil {
			return Moment{}, err
		}
		return fromNow(span, now), nil
	case seconds < firstEpochMilli:
		return atDate(d.sinceEpoch(seconds), now)
	case seconds < endOfEpochMillis:
		return atDate(time.UnixMilli(seconds).UTC(), now)
	}
	return Moment{}, errAbsurd
}

func fromNow(in time.Duration, now time.Time) Moment {
	m := Moment{In: in, HasIn: true}
	if !now.IsZero() {
		m.At = now.Add(in).UTC().Round(0)
	}
	return m
}

func atDate(at, now time.Time) (Moment, error) {
	if now.IsZero() {
		return Moment{At: at}, nil
	}
	in := at.Sub(now)
	if _, err := withinMaxWait(in); err != nil {
		return Moment{}, err
	}
	return Moment{In: max(in, 0), HasIn: true, At: at}, nil
}

// Delay parses a Retry-After value: seconds, an HTTP date, or another form of a time. A past date is an
// error, and so is a date if now is unknown.
func Delay(s string, now time.Time) (time.Duration, error) {
	s = strings.TrimSpace(s)
	if d, err := Seconds(s); err == nil || !errors.Is(err, errNotNumber) {
		return d, err
	}
	if d, err := Span(s); err == nil || !errors.Is(err, errUnits) {
		return d, err
	}
	at, err := Date(s)
	switch {
	case err != nil:
		return 0, err
	case now.IsZero():
		return 0, errNoNow
	case at.Before(now):
		return 0, errPast
	}
	return withinMaxWait(at.Sub(now))
}

// Epoch parses a number of seconds since the epoch, with a fraction. The result is in UTC.
func Epoch(s string) (time.Time, error) {
	d, err := parseDecimal(strings.TrimSpace(s))
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := d.scaled(0)
	if err != nil || seconds >= endOfEpochMillis/1000 {
		return time.Time{}, errAbsurd
	}
	return d.sinceEpoch(seconds), nil
}

// sinceEpoch returns the time d seconds after the epoch. seconds is d without its fraction.
func (d *decimal) sinceEpoch(seconds int64) time.Time {
	var fraction decimal
	fraction.Sub(&d.Rat, new(big.Rat).SetInt64(seconds))
	nanos, _ := fraction.scaled(9)
	return time.Unix(seconds, nanos).UTC()
}
