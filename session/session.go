package session

import (
	"sync"
	"sync/atomic"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// Session holds the newest [State] of one conversation and the reducers that change it. Make it with [New],
// [Restore] or [Resume]; the zero value is not usable. Safe for concurrent use: changes are made one after
// the other, and reading never waits for them. Reducers run while a change is being made, so a reducer must
// not change the session itself: it would wait for itself for ever.
type Session struct {
	declared map[string]declaration // never changes
	reducers map[string][]Reducer   // by event; never changes
	notify   atomic.Pointer[func(fault.ReducerError)]
	state    atomic.Pointer[State]

	changing sync.Mutex // held by whoever changes what follows, or state
	held     bool
	dispatch func(Event) error // of the run that holds the session; nil for none
	said     message.Transcript
}

// New returns a session without values. The error joins a [*ConfigError] per fault of the config.
func New(cfg Config) (*Session, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Session{declared: map[string]declaration{}, reducers: map[string][]Reducer{}}
	for _, d := range cfg.Slices {
		s.declared[d.Name()] = d.declaration()
	}
	for _, r := range cfg.Reducers {
		s.reducers[r.event] = append(s.reducers[r.event], r)
	}
	s.state.Store(&State{id: cfg.ID, slots: emptySlots(cfg.Slices)})
	s.OnReducerError(cfg.OnReducerError)
	return s, nil
}

// State is what the session holds now. It stays as it is whatever happens to the session.
func (s *Session) State() State { return *s.state.Load() }

// ID is the session's correlation id; empty until it has one.
func (s *Session) ID() string { return s.State().id }

// Adopt gives the session its id where it has none yet; the driver of a run does so. The same id again is
// fine; another one gives [ErrAdopted], an unusable one a [*ConfigError].
func (s *Session) Adopt(id string) error {
	if id == "" {
		return &ConfigError{Field: "id", Want: "must not be empty"}
	}
	if err := checkID(id); err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	next := s.State()
	if next.id != "" && next.id != id {
		return ErrAdopted
	}
	next.id = id
	s.state.Store(&next)
	return nil
}

// Acquire takes the session for one run: until [Session.Release], Dispatch is refused and Replace allowed. It
// gives [ErrBusy] where a run holds it already, and waits for nothing but a Dispatch under way.
func (s *Session) Acquire() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.held {
		return ErrBusy
	}
	s.held = true
	return nil
}

// Release gives the session back. Only who acquired it may call it; where nobody did, it does nothing.
func (s *Session) Release() {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.held, s.dispatch = false, nil
}

// Conversation is what was said in the runs of the session, up to the end of the last: what the next run goes
// on with.
func (s *Session) Conversation() message.Transcript {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.said
}

// Said makes the conversation of the session: a driver does so as a run ends.
func (s *Session) Said(all message.Transcript) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.said = all
}

// Through lets the run that holds the session take the events that are dispatched meanwhile, one by one,
// until [Session.Release]. Only who acquired the session may call it.
func (s *Session) Through(dispatch func(Event) error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.dispatch = dispatch
}

// OnReducerError sets who is told of every reducer error, at once and in the goroutine in which it happened;
// nil means nobody. It replaces who was set before. The function may read the session and, where no run holds
// it, change it.
func (s *Session) OnReducerError(fn func(fault.ReducerError)) { s.notify.Store(&fn) }

// ReportReducerError calls who was set by OnReducerError. It is for drivers, which run reducers by ReduceIn
// and record their errors in a State of their own.
func (s *Session) ReportReducerError(e fault.ReducerError) {
	if fn := s.notify.Load(); fn != nil && *fn != nil {
		(*fn)(e)
	}
}

// Hears reports whether a reducer is bound to events of a name: what nobody hears changes nothing, and need
// not be made.
func (s *Session) Hears(event string) bool { return len(s.reducers[event]) > 0 }

// Reduce runs the reducers of an event on what the session holds now and returns what they want done, or the
// failure of the first that fails. Nothing is changed and nobody is told.
func (s *Session) Reduce(event Event) ([]reducer.Op, *fault.ReducerError) {
	return s.ReduceIn(s.State(), event)
}

// ReduceIn is Reduce on a given state: the one a driver is stepping. Operations that would change nothing are
// left out.
func (s *Session) ReduceIn(state State, event Event) ([]reducer.Op, *fault.ReducerError) {
	_, ops, failure := reduce(state, s.reducers[event.Name], event)
	return ops, failure
}

// Dispatch applies events in their order, each as a transaction of its own. At the first whose reducers fail
// it stops: no slice has been changed by that event, its [*fault.ReducerError] stands in its log, who was set
// by OnReducerError has been told, and it is returned; events before it stay applied, and those after it are
// not looked at. While a try of loop.Do or loop.Attempts is made in the session, the events are events of
// that try. While a run holds the session otherwise, or steps it, nothing is done and the error is [ErrBusy].
func (s *Session) Dispatch(events ...Event) error {
	for _, event := range events {
		if through := s.through(); through != nil {
			if err := through(event); err != nil {
				return err
			}
			continue
		}
		failure, err := s.apply(event)
		if err != nil {
			return err
		}
		if failure != nil {
			s.ReportReducerError(*failure)
			return failure
		}
	}
	return nil
}

func (s *Session) through() func(Event) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.dispatch
}

func (s *Session) apply(event Event) (*fault.ReducerError, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.held {
		return nil, ErrBusy
	}
	next, _, failure := reduce(s.State(), s.reducers[event.Name], event)
	if failure != nil {
		next = next.AddReducerError(*failure)
	}
	s.state.Store(&next)
	return failure, nil
}

// Replace puts a state in the place of the session's: a driver does so after each step, with a state that
// grew from the one it took. It gives [ErrNotHeld] where no run holds the session, [ErrAdopted] for another
// id, and a [*SliceError] or [*ValueError] per fault where slices, kinds or values are not those of the
// session; the session then stays as it was. Only values added since the last time are looked at.
func (s *Session) Replace(state State) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.held {
		return ErrNotHeld
	}
	if state.id != s.ID() {
		return ErrAdopted
	}
	if err := s.fit(state); err != nil {
		return err
	}
	state = s.filled(state)
	s.state.Store(&state)
	return nil
}
