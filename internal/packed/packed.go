package packed

import (
	"slices"
	"time"
)

// Room lays values into a text, or takes them from one. The zero value lays. It is for one goroutine.
type Room struct {
	// laid has what was laid, as far as it goes: most is short, and lies where the room does. The rest is in more.
	laid  [96]byte
	n     int
	more  []byte
	left  string
	takes bool
}

// From is a room that takes from a text what was laid there. The texts that it gives share its memory.
func From(text string) Room { return Room{left: text, takes: true} }

// Takes reports whether values are taken.
func (r *Room) Takes() bool { return r.takes }

// String is what was laid.
func (r *Room) String() string { return string(r.laid[:r.n]) + string(r.more) }

// Int lays or takes a number.
func Int[T ~int | ~int64](r *Room, v *T) {
	if r.takes {
		*v = T(r.take())
	} else {
		r.lay(int64(*v))
	}
}

// Text lays or takes a text.
func Text[T ~string](r *Room, v *T) {
	n := len(*v)
	if Int(r, &n); r.takes {
		*v, r.left = T(r.left[:n]), r.left[n:]
	} else {
		fits := copy(r.laid[r.n:], *v)
		r.n, r.more = r.n+fits, append(r.more, (*v)[fits:]...)
	}
}

// Word lays or takes a text that mostly is one of the words, which need no room but for their place among them.
func Word[T ~string](r *Room, v *T, words ...T) {
	at := slices.Index(words, *v)
	switch Int(r, &at); {
	case at < 0:
		Text(r, v)
	case r.takes:
		*v = words[at]
	}
}

// Flag lays or takes a yes or no.
func Flag(r *Room, v *bool) {
	n := 0
	if *v {
		n = 1
	}
	if Int(r, &n); r.takes {
		*v = n == 1
	}
}

// Time lays or takes a moment. What is taken is in UTC.
func Time(r *Room, v *time.Time) {
	sec, nsec := v.Unix(), v.Nanosecond()
	Int(r, &sec)
	if Int(r, &nsec); r.takes {
		*v = time.Unix(sec, int64(nsec)).UTC()
	}
}

// lay lays a number: seven bits in each byte, the lowest first, and the sign in the lowest of all.
func (r *Room) lay(v int64) {
	u := uint64(v)<<1 ^ uint64(v>>63)
	for ; u >= 0x80; u >>= 7 {
		r.put(byte(u) | 0x80)
	}
	r.put(byte(u))
}

func (r *Room) put(b byte) {
	if r.n == len(r.laid) {
		r.more = append(r.more, b)
		return
	}
	r.laid[r.n] = b
	r.n++
}

// take takes a number.
func (r *Room) take() int64 {
	var u uint64
	for n := 0; ; n++ {
		b := r.left[n]
		if u |= uint64(b&0x7f) << (7 * n); b < 0x80 {
			r.left = r.left[n+1:]
			return int64(u>>1) ^ -int64(u&1)
		}
	}
}
