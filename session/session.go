package session

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/stack"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
)

// Session holds the newest [State] of one conversation and the reducers that change it. Make it with [New]
// or [Restore]; the zero value is not usable. It is safe for concurrent use: changes are made one at
// a time, and reading never waits for them. A reducer that changes its own session gets [ErrReentrant]; one
// that changes another session waits as any other. Two reducers that change each other's sessions wait for
// ever.
type Session struct {
	declared map[string]declaration // never changes
	reducers []Reducer              // in order of registration; never changes
	seed     string                 // never changes
	events   []string               // never changes
	notify   atomic.Pointer[func(fault.ReducerError)]
	journal  atomic.Pointer[Journal]
	toRun    atomic.Pointer[func(Words) error] // passes messages to the run that holds the session, or nil

	changing sync.Mutex // is held by whoever changes the session, and guards the fields below
	held     bool
	dispatch func(Event) error // of the run that holds the session, or nil

	reading  sync.Mutex // guards contents, for no longer than a copy takes
	contents Contents
}

// Contents are what a session has at one moment. The zero value is that of no session.
type Contents struct {
	State State
	// Conversation are the messages of its runs up to the end of the last. It is read-only.
	Conversation []message.Message
	// Kept is what is known of the conversation besides the messages: which calls had an effect, and what
	// prompts leave out.
	Kept projection.Kept
}

// Known returns what is known of the conversation besides the messages; nil if nothing is.
func (c Contents) Known() *projection.Kept {
	if len(c.Kept.Turns)+len(c.Kept.Cuts) == 0 {
		return nil
	}
	return &c.Kept
}

func (s *Session) now() Contents {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.contents
}

// set sets the contents. s.changing is held.
func (s *Session) set(next Contents) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.contents = next
}

// store sets the state. s.changing is held.
func (s *Session) store(state State) {
	next := s.now()
	next.State = state
	s.set(next)
}

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

// New returns a session with the slices and the logs that its journal has at the end of its last run; empty
// if there is none, or if that run has not ended. The conversation of the journal comes with the first run.
// The error joins one for each fault of the config, such as a slice of the journal that is not declared.
func New(cfg Config) (*Session, error) {
	s, err := empty(cfg)
	if err != nil {
		return nil, err
	}
	if j, ok := cfg.Journal.(recorded); ok {
		held, _ := j.Contents() // what is wrong with the journal is an error of the next run
		if held.State.empty() {
			return s, nil
		}
		if err := s.fit(held.State); err != nil {
			return nil, fmt.Errorf("session config: slices: declare those of the journal: %w", err)
		}
		s.store(s.filled(held.State))
	}
	return s, nil
}

// recorded is a journal that knows what its session had at the end of its last run, and whether that is still
// to come.
type recorded interface {
	Contents() (Contents, error)
	Unfinished() bool
}

func empty(cfg Config) (*Session, error) {
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
	id := cfg.ID
	if cfg.Journal != nil {
		j := cfg.Journal
		id = j.Session()
		s.journal.Store(&j)
	}
	s.contents.State = State{id: id, slots: emptySlots(cfg.Slices)}
	if cfg.OnReducerError != nil {
		s.OnReducerError(cfg.OnReducerError)
	}
	return s, nil
}

// State returns the current state. Later changes of the session do not affect it.
func (s *Session) State() State { return s.now().State }

// ID returns the session's correlation id, or "" if it has none yet.
func (s *Session) ID() string { return s.State().id }

// Conversation returns the messages of the session's runs up to the end of the last. The next run continues
// it. A new session has that of its journal from its first run on; until then the journal's Contents have it.
// The slice is read-only.
func (s *Session) Conversation() []message.Message { return s.now().Conversation }

// OnReducerError sets the function that is called with every reducer error, at once and in the goroutine of
// the error. Nil means none. It replaces the function set before. The function may read the session; it may
// change it only if no run holds it.
func (s *Session) OnReducerError(fn func(fault.ReducerError)) { s.notify.Store(&fn) }

// report calls the function set with OnReducerError.
func (s *Session) report(e fault.ReducerError) {
	if fn := s.notify.Load(); fn != nil && *fn != nil {
		(*fn)(e)
	}
}

// Dispatch applies events in order, each as its own transaction. It stops at the first event whose reducer
// fails. That event changes no slice; its [*fault.ReducerError] is recorded, reported to OnReducerError and
// returned. Earlier events stay applied; later ones are not applied.
//
// What events change between runs is recorded with the next run; until then only a [Session.Snapshot] has it.
// A run that was left to be resumed goes on with its own state, so that until its end nothing can be changed.
//
// During a try of loop.Do or loop.Attempts in the session, the events belong to that try; goroutines that
// dispatch at the same time wait for one another. While another run holds the session, the error is [ErrBusy]
// and nothing changes. A reducer must not dispatch ([ErrReentrant]), nor may an observer of the try.
func (s *Session) Dispatch(events ...Event) error {
	for _, event := range events {
		through, failure, err := s.apply(event)
		if through != nil {
			err = through(event)
		}
		if err != nil {
			return err
		}
		if failure != nil {
			s.report(*failure)
			return failure
		}
	}
	return nil
}

// apply runs the reducers of an event, unless a run takes events: then it returns what passes one to the run.
func (s *Session) apply(event Event) (through func(Event) error, failure *fault.ReducerError, err error) {
	if err := s.lock(); err != nil {
		return nil, nil, err
	}
	defer s.changing.Unlock()
	switch {
	case s.dispatch != nil:
		return s.dispatch, nil, nil
	case s.held:
		return nil, nil, ErrBusy
	case s.unfinished():
		return nil, nil, errUnfinished
	}
	return nil, s.transact(event), nil
}

// unfinished reports whether the last run of the journal is still to be resumed.
func (s *Session) unfinished() bool {
	j := s.journal.Load()
	if j == nil {
		return false
	}
	r, ok := (*j).(recorded)
	return ok && r.Unfinished()
}
