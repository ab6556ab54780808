package journal

import "time"

// days writes times as [time.RFC3339Nano] has them, in UTC. The date is kept, for most times that stand in a journal are of one day. The zero
// value is ready for use.
type days struct {
	// day counts from 1970, date is how it is written; empty before the first.
	day  int64
	date []byte
}

const aDay = 24 * 60 * 60

func (d *days) append(b []byte, at time.Time) []byte {
	seconds := at.Unix()
	day := seconds / aDay
	if seconds -= day * aDay; seconds < 0 {
		day, seconds = day-1, seconds+aDay
	}
	if day != d.day || len(d.date) == 0 {
		d.day, d.date = day, at.UTC().AppendFormat(d.date[:0], time.DateOnly+"T")
	}
	b = append(b, d.date...)
	b = append(appendTwo(b, seconds/3600), ':')
	b = append(appendTwo(b, seconds/60%60), ':')
	return append(appendFraction(appendTwo(b, seconds%60), at.Nanosecond()), 'Z')
}

// appendTwo appends a number of two digits.
func appendTwo(b []byte, n int64) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }

// appendFraction appends what is left of a second, without zeros at the end.
func appendFraction(b []byte, nanoseconds int) []byte {
	if nanoseconds == 0 {
		return b
	}
	b = append(b, '.')
	for unit := 100_000_000; nanoseconds > 0; unit /= 10 {
		b = append(b, '0'+byte(nanoseconds/unit))
		nanoseconds %= unit
	}
	return b
}
