package session

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/stack"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// Session holds the newest [State] of one conversation and the reducers that change it. Make it with [New],
// [Restore] or [Resume]; the zero value is not usable. It is safe for concurrent use: changes are made one at
// a time, and reading never waits for them. A reducer that changes its own session gets [ErrReentrant]; one that
// changes another session waits as any other. Two reducers that change each other's sessions wait for ever.
type Session struct {
	declared map[string]declaration // never changes
	reducers []Reducer              // in order of registration; never changes
	seed     string                 // never changes
	events   []string               // never changes
	notify   atomic.Pointer[func(fault.ReducerError)]
	now      atomic.Pointer[contents]

	changing sync.Mutex // guards the fields below, and stores to now
	held     bool
	dispatch func(Event) error // of the run that holds the session, or nil
}

// contents are what a reader sees at one moment.
type contents struct {
	state State
	said  []message.Message
}

// store sets the state. s.changing is held.
func (s *Session) store(state State) { s.now.Store(&contents{state, s.Conversation()}) }

// lock waits until no other goroutine changes the session.
func (s *Session) lock() error {
	if s.changing.TryLock() {
		return nil
	}
	if stack.Holds((*Session).transact, s) {
		return ErrReentrant
	}
	s.changing.Lock()
	return nil
}

// transact runs the reducers of an event while s.changing is held. [Session.lock] looks for it on the stack.
//
//go:noinline
func (s *Session) transact(event Event) *fault.ReducerError {
	next, _, failure := reduce(s.State(), s.reducers, event)
	if failure != nil {
		next = next.AddReducerError(*failure)
	}
	s.store(next)
	stack.Keep(s)
	return failure
}

// New returns an empty session. The error joins a [*ConfigError] for each fault of the config.
func New(cfg Config) (*Session, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Session{reducers: slices.Clone(cfg.Reducers), seed: cfg.Seed, events: slices.Clone(cfg.Events)}
	if len(cfg.Slices) > 0 {
		s.declared = make(map[string]declaration, len(cfg.Slices))
	}
	for _, d := range cfg.Slices {
		s.declared[d.Name()] = d.declaration()
	}
	s.now.Store(&contents{state: State{id: cfg.ID, slots: emptySlots(cfg.Slices)}})
	s.OnReducerError(cfg.OnReducerError)
	return s, nil
}

// State returns the current state. Later changes of the session do not affect it.
func (s *Session) State() State { return s.now.Load().state }

// ID returns the session's correlation id, or "" if it has none yet.
func (s *Session) ID() string { return s.State().id }

// Seed returns [Config].Seed. Drivers use it before any other seed.
func (s *Session) Seed() string { return s.seed }

// Adopt gives the session its id if it has none. Drivers call it when a run begins. The same id again is
// fine; another id is [ErrAdopted], an invalid one a [*ConfigError].
func (s *Session) Adopt(id string) error {
	if id == "" {
		return &ConfigError{Field: "id", Want: "must not be empty"}
	}
	if err := checkID(id); err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	defer s.changing.Unlock()
	next := s.State()
	if next.id != "" && next.id != id {
		return ErrAdopted
	}
	next.id = id
	s.store(next)
	return nil
}

// Acquire takes the session for one run. Until [Session.Release], Dispatch is refused and Replace is allowed.
// It returns [ErrBusy] if a run holds the session. It waits only for a Dispatch in progress.
func (s *Session) Acquire() error {
	if err := s.lock(); err != nil {
		return err
	}
	defer s.changing.Unlock()
	if s.held {
		return ErrBusy
	}
	s.held = true
	return nil
}

// Release gives the session back. Only the run that acquired the session may call it. It does nothing if no
// run holds the session.
func (s *Session) Release() {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.held, s.dispatch = false, nil
}

// Conversation returns the messages of the session's runs up to the end of the last. The next run continues
// it. The slice is read-only.
func (s *Session) Conversation() []message.Message { return s.now.Load().said }

// Through passes events that are dispatched while a run holds the session to that run, one at a time, until
// [Session.Release]. Only the run that acquired the session may call it.
func (s *Session) Through(dispatch func(Event) error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.dispatch = dispatch
}

// OnReducerError sets the function that is called with every reducer error, at once and in the goroutine of
// the error. Nil means none. It replaces the function set before. The function may read the session; it may
// change it only if no run holds it.
func (s *Session) OnReducerError(fn func(fault.ReducerError)) { s.notify.Store(&fn) }

// ReportReducerError calls the function set with OnReducerError. It is for drivers, which call ReduceIn and
// record errors in their own State.
func (s *Session) ReportReducerError(e fault.ReducerError) {
	if fn := s.notify.Load(); fn != nil && *fn != nil {
		(*fn)(e)
	}
}

// Expects reports whether a reducer is bound to events with the name, or [Config].Events has it.
func (s *Session) Expects(event string) bool {
	return s.Hears(event) || slices.Contains(s.events, event)
}

// Hears reports whether a reducer is bound to events with the name.
func (s *Session) Hears(event string) bool {
	return slices.ContainsFunc(s.reducers, func(r Reducer) bool { return r.event == event })
}

// Reduce runs the reducers of an event on the current state. It returns their operations, or the first
// failure. It changes nothing and does not report the failure.
func (s *Session) Reduce(event Event) ([]reducer.Op, *fault.ReducerError) {
	return s.ReduceIn(s.State(), event)
}

// ReduceIn is Reduce on a given state. Operations that change nothing are left out.
func (s *Session) ReduceIn(state State, event Event) ([]reducer.Op, *fault.ReducerError) {
	_, ops, failure := reduce(state, s.reducers, event)
	return ops, failure
}

// Dispatch applies events in order, each as its own transaction. It stops at the first event whose reducer
// fails. That event changes no slice; its [*fault.ReducerError] is recorded, reported to OnReducerError and
// returned. Earlier events stay applied; later ones are not applied.
//
// During a try of loop.Do or loop.Attempts in the session, the events belong to that try; goroutines that
// dispatch at the same time wait for one another. While another run holds the session, the error is [ErrBusy]
// and nothing changes. A reducer must not dispatch ([ErrReentrant]), nor may an observer of the try.
func (s *Session) Dispatch(events ...Event) error {
	for _, event := range events {
		through, err := s.through()
		if err != nil {
			return err
		}
		if through != nil {
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

func (s *Session) through() (func(Event) error, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.changing.Unlock()
	return s.dispatch, nil
}

func (s *Session) apply(event Event) (*fault.ReducerError, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.changing.Unlock()
	if s.held {
		return nil, ErrBusy
	}
	return s.transact(event), nil
}

// Replace replaces the session's state. Drivers call it after each step, with a state made from the one they
// took. The error is [ErrNotHeld] if no run holds the session, [ErrAdopted] for another id, and a
// [*SliceError] or [*ValueError] for each slice or value that does not fit; the session is then unchanged.
// Only values added since the last call are checked.
func (s *Session) Replace(state State) error {
	return s.replace(state, func(was []message.Message) []message.Message { return was })
}

// Conclude is Replace for the end of a run: it also sets the conversation, at the same moment. It keeps the
// slice.
func (s *Session) Conclude(state State, conversation []message.Message) error {
	return s.replace(state, func([]message.Message) []message.Message { return slices.Clip(conversation) })
}

func (s *Session) replace(state State, said func(was []message.Message) []message.Message) error {
	if err := s.lock(); err != nil {
		return err
	}
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
	s.now.Store(&contents{s.filled(state), said(s.Conversation())})
	return nil
}
