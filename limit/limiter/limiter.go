package limiter

import (
	"container/list"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/benbjohnson/clock"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// Config configures a [Limiter]. The zero value is a limiter of this process that learns all it needs.
type Config struct {
	// Limit is what the limiter of each scope starts with, but for those in Scopes. The Store sets Shared.
	Limit  limit.Config
	Scopes map[string]limit.Config
	// MaxWait bounds how long a call waits; 0 means as long as its deadline allows.
	MaxWait time.Duration
	// Clock is the clock; nil is the machine's.
	Clock Clock
	// Store is what processes share; nil means that this one is alone. The limits of the process that was
	// made last hold for all.
	Store Store
	// Processes is how many processes share the store, as far as is known. It matters while the store cannot
	// be reached, if fewer were alive.
	Processes int
	// Notice is told what people should know; nil tells nobody. It must not block, and several goroutines may
	// call it at once.
	Notice func(Notice)
}

// FromFleet returns the config of a limiter that keeps to what a policy file says of the fleet. A store, a
// clock and what hears notices can be added.
func FromFleet(f limit.Fleet) Config {
	return Config{Limit: f.Limit, Scopes: f.Scopes, MaxWait: f.MaxWait, Processes: f.Processes}
}

// Clock tells the time and waits. It must be safe for concurrent use.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// After returns a channel that receives the time once d has passed.
	After(d time.Duration) <-chan time.Time
}

// Ask asks for one call.
type Ask struct {
	// Scope is whose limits the call takes from.
	Scope string
	// Tokens is an estimate of what the call takes of windows of tokens; 0 if it takes nothing of them.
	Tokens int64
	// Turn is that of the last grant in this scope to the same session; 0 for its first call. It makes grants
	// fair.
	Turn int64
	// Priority goes before lower ones, as if it had waited longer.
	Priority int
	// Retry marks a call that failed before, also as a probe. It goes first.
	Retry bool
	// UnlessDown denies the call at once if the provider is known to be down, for callers that can go
	// elsewhere.
	UnlessDown bool
	// Deadline is when the call is of no use anymore, by the limiter's clock. Zero means never.
	Deadline time.Time
}

// Grant allows one call, now. It must be settled.
type Grant struct {
	Scope string `json:"scope"`
	ID    int64  `json:"id"`
	// Turn belongs into the session's next ask.
	Turn int64 `json:"turn,omitempty"`
	// Probe marks the one call that finds out whether a provider is back. Its failure is nobody's fault.
	Probe bool `json:"probe,omitempty"`
	// Excused marks a call whose refusal is nobody's fault but the limiter's, which did not know the limit.
	// It is asked for again, with Ask.Retry, without a wait of its own.
	Excused bool `json:"excused,omitempty"`
}

// Use is how a granted call ended.
type Use struct {
	Outcome limit.Outcome
	// Tokens is what it really took; 0 means unknown: the estimate stands.
	Tokens int64
	// Limits are what the response said; nil for nothing. They are kept, and must not be changed.
	Limits *ratelimit.State
}

// ErrDenied is the error of a call that is not granted, and that no wait would help.
var ErrDenied = errors.New("limiter: the call was denied")

// DeniedError says why a call was denied. It is an [ErrDenied].
type DeniedError struct {
	Scope string
	Why   limit.Why
	// Wait is how long it would have waited, as far as can be told, and Left the time that it had, if it had
	// a deadline.
	Wait, Left time.Duration
}

// Error says what the call would have waited for.
func (e *DeniedError) Error() string {
	return "limiter: " + e.Scope + ": " + e.Why.Explain(e.Wait, e.Left)
}

// Is reports that it is an [ErrDenied].
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// Answer is a grant, or why there is none.
type Answer struct {
	Grant
	// Err is a [*DeniedError], or nil.
	Err error
}

// few is how many asks may be taken back one by one, although each looks at all that wait.
const few = 100

// Limiter grants calls. Make one with [New]. All methods are safe for concurrent use. It has a goroutine
// while calls wait, and nothing needs to be closed; with a store, see [Limiter.Flush].
type Limiter struct {
	cfg   Config
	clock Clock
	// time is that of the clock, but goes on if it is set back. alarms are those of the scopes.
	time   *after.Steady
	alarms after.Alarms
	// name is this process's at the store, and begun when it was made.
	name  string
	begun time.Time

	mu     sync.Mutex
	scopes map[string]*scope
	// recent are the scopes in the order in which they were last used.
	recent list.List
	asks   int64
	// later are answers and notices that are passed on once mu is free.
	later []func()
}

// New returns a limiter that nothing has used yet. The error joins all faults of the config.
func New(c Config) (*Limiter, error) {
	fleet := limit.Fleet{Limit: c.Limit, Scopes: c.Scopes, MaxWait: c.MaxWait, Processes: c.Processes}
	if err := fleet.Validate(); err != nil {
		return nil, fmt.Errorf("limiter: %w", err)
	}
	l := &Limiter{cfg: c, clock: c.Clock, name: rand.Text(), scopes: map[string]*scope{}}
	if l.clock == nil {
		l.clock = clock.New()
	}
	l.time = after.SteadyTime(l.clock)
	l.begun = l.time.Now()
	l.alarms.Clock = l.time
	return l, nil
}

// Clock returns the clock of the limiter: that of its [Config], or the machine's.
func (l *Limiter) Clock() Clock { return l.clock }

// Ask asks for a call. If it can be answered at once, known is true. Otherwise later is called with the
// answer, once, on another goroutine, unless [Limiter.Leave] takes the ask back; the Answer that is returned
// has the scope and the ID for that. later must not block, and may use the limiter.
func (l *Limiter) Ask(a Ask, later func(Answer)) (answer Answer, known bool) {
	l.mu.Lock()
	defer l.tell()
	now := l.time.Now()
	s := l.scope(a.Scope, now)
	if a.UnlessDown && s.down(now) {
		if s.lender != nil { // another process may have seen that it is back
			s.lender.tell = after.Sooner(s.lender.tell, now.Add(gather))
			l.plan(s)
		}
		return Answer{Grant: Grant{Scope: a.Scope}, Err: &DeniedError{Scope: a.Scope, Why: limit.NotUp}}, true
	}
	l.asks++
	if !a.Deadline.IsZero() {
		a.Deadline = a.Deadline.Add(l.time.Ahead())
	}
	if l.cfg.MaxWait > 0 {
		a.Deadline = after.Sooner(a.Deadline, now.Add(l.cfg.MaxWait))
	}
	ev := limit.Event{
		Kind: limit.Ask, At: now, ID: l.asks, Tokens: a.Tokens, Turn: a.Turn, Priority: a.Priority, Retry: a.Retry,
		Deadline: a.Deadline,
	}
	if answer, known = l.step(s, &ev); !known {
		s.waiting[ev.ID] = waiter{later, a.Deadline}
		l.plan(s)
		answer.Grant = Grant{Scope: a.Scope, ID: ev.ID}
	}
	return answer, known
}

// Leave takes back an ask that was not answered. It reports false if it has been answered: a grant must be
// settled.
func (l *Limiter) Leave(scope string, id int64) bool {
	l.mu.Lock()
	defer l.tell()
	s := l.scopes[scope]
	if s == nil {
		return false
	}
	if _, waits := s.waiting[id]; !waits {
		return false
	}
	delete(s.waiting, id)
	if s.gone = append(s.gone, id); len(s.gone) > len(s.waiting)/8 || len(s.waiting) < few {
		l.step(s, &limit.Event{Kind: limit.Leave, At: l.time.Now(), IDs: s.gone})
		s.gone = nil
	}
	return true
}

// Acquire waits until a call is granted. The error is a [*DeniedError], or the cause of ctx. The deadline of
// ctx counts if it is the earlier one and the limiter has the machine's clock.
func (l *Limiter) Acquire(ctx context.Context, a Ask) (Grant, error) {
	if err := context.Cause(ctx); err != nil {
		return Grant{}, err
	}
	if d, has := ctx.Deadline(); has && l.cfg.Clock == nil {
		a.Deadline = after.Sooner(a.Deadline, d)
	}
	answered := make(chan Answer, 1)
	answer, known := l.Ask(a, func(got Answer) { answered <- got })
	if known {
		return answer.Grant, answer.Err
	}
	select {
	case answer = <-answered:
		return answer.Grant, answer.Err
	case <-ctx.Done():
	}
	if !l.Leave(answer.Scope, answer.ID) {
		if answer = <-answered; answer.Err == nil {
			l.Settle(answer.Grant, Use{Outcome: limit.Unused})
		}
	}
	return Grant{}, context.Cause(ctx)
}

// Settle says how a granted call ended. A second time counts for nothing but what the response says.
func (l *Limiter) Settle(g Grant, u Use) {
	l.mu.Lock()
	defer l.tell()
	now := l.time.Now()
	l.settle(l.scope(g.Scope, now), limit.Event{
		Kind: limit.Settle, At: now, ID: g.ID, Tokens: u.Tokens, Outcome: u.Outcome, Limits: u.Limits,
	})
}

// Flush tells the store at once how calls ended, and gives back what was borrowed and nobody waits for. Until
// it uses a scope again, the process does not count among those that share it. Call it before the process
// ends, or others hold what it had for [limit.Config].Hold. Without a store it does nothing. The error joins
// those of the scopes that were not told: the store cannot be reached, or ctx has ended.
func (l *Limiter) Flush(ctx context.Context) error {
	l.mu.Lock()
	defer l.tell()
	var errs []error
	for _, name := range canon.Keys(l.scopes) {
		s := l.scopes[name]
		if s == nil || s.lender == nil {
			continue // it may be gone since: the lock is free while the store is told
		}
		l.step(s, &limit.Event{Kind: limit.Leave, At: l.time.Now()})
		if err := s.lender.flush(ctx); err != nil {
			errs = append(errs, fmt.Errorf("limiter: scope %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// Next returns the time when the limiter has something to do by itself. It returns false if nothing waits.
func (l *Limiter) Next() (time.Time, bool) {
	at, waits := l.alarms.Next()
	if waits {
		at = at.Add(-l.time.Ahead())
	}
	return at, waits
}

// Tick does what is due now. The limiter does it by itself, a moment later.
func (l *Limiter) Tick() { l.alarms.Tick() }

// tell frees mu, and passes on what was held back.
func (l *Limiter) tell() {
	later := l.later
	l.later = nil
	l.mu.Unlock()
	for _, f := range later {
		f()
	}
}
