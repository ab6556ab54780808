package loop

import "sync/atomic"

// spares are what nobody has who makes an action, for whoever makes one next: zero but for a room in which there is nothing. They wait here for
// the reason that [rooms] wait in a channel, and have no type parameter for the same; places are quicker than a channel. The zero value
// has none. Safe for concurrent use.
type spares struct {
	places [64]atomic.Pointer[trying]
}

// take returns one that is nobody else's any more, or a new one.
func (s *spares) take() *trying {
	for n := range s.places {
		if p := &s.places[n]; p.Load() != nil {
			if spare := p.Swap(nil); spare != nil {
				return spare
			}
		}
	}
	return new(trying)
}

// give lets go of one that nobody has any use for. Where there are enough, it is dropped.
func (s *spares) give(spare *trying) {
	for n := range s.places {
		if p := &s.places[n]; p.Load() == nil && p.CompareAndSwap(nil, spare) {
			return
		}
	}
}
