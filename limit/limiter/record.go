package limiter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/retake-go/retake/limit"
)

// record is what processes share of one scope.
type record struct {
	State limit.State `json:"state"`
	// Granted are grants by their IDs that were not fetched yet.
	Granted map[int64]limit.Share `json:"granted,omitempty"`
	// Alive are the processes that use the scope, and until when each counts if it does not speak again, in
	// milliseconds since 1970.
	Alive map[string]int64 `json:"alive"`
	// Begun is when the last process was made that knew the scope, in milliseconds since 1970.
	Begun int64 `json:"begun,omitempty"`
	// Ahead is what the times are ahead of the store's clock, which was set back.
	Ahead time.Duration `json:"ahead,omitempty"`
}

// outcome is what came of an exchange.
type outcome struct {
	state limit.State
	alive int64
	skew  time.Duration
	// asked is the ID of the ask, and share what it was granted; nil if it waits. wait is when to look again.
	// givenUp is set if the ask was denied because the provider has been down for too long.
	asked int64
	share *limit.Share
	wait  time.Duration
	// claimed is what a write that failed may have lent all the same, or nil.
	givenUp bool
	changed bool
	claimed *claim
}

// read returns the record of a store, or that of a scope that nobody used.
func read(value []byte, config limit.Config) (*record, error) {
	r := &record{}
	if len(value) == 0 {
		var err error
		r.State, err = limit.New(config)
		return r, err
	}
	err := json.Unmarshal(value, r)
	if err = errors.Join(err, r.State.Validate()); err != nil {
		return nil, fmt.Errorf("the record in the store cannot be read: %w", err)
	}
	return r, nil
}

// Recorded returns how a scope is by its record in a store. Waiting are the calls that waited when their
// processes last asked, and the calls in flight those that they were lent.
func Recorded(scope string, value []byte) (Status, error) {
	r, err := read(value, limit.Config{})
	if err != nil {
		return Status{}, fmt.Errorf("scope %q: %w", scope, err)
	}
	return Status{
		Scope: scope, Waiting: int(r.State.WaitingCalls()), State: r.State, Processes: int64(len(r.Alive)),
	}, nil
}

// sameStart is how far apart processes count as begun at once: what clocks and networks take.
const sameStart = 1000

// configure gives the scope the config of the process that was made last, and reports whether others must be
// told.
func (r *record) configure(c limit.Config, begun time.Time) bool {
	if begun.UnixMilli() <= r.Begun+sameStart {
		return false
	}
	r.Begun = begun.UnixMilli()
	_ = r.State.Configure(c) // it was checked
	return true
}

// steady returns the time of the record: that of the store's clock, but it goes on if that is set back.
func (r *record) steady(now time.Time) time.Time {
	r.Ahead += max(0, time.Duration(r.State.Now-now.UnixNano())-r.Ahead)
	return now.Add(r.Ahead)
}

func (r *record) write() []byte {
	value, _ := json.Marshal(r) // it has numbers and names only
	return value
}

// play tells the limiter what is to be told, and fetches the answer to the ask.
func (r *record) play(now time.Time, t *todo, name string) (out outcome) {
	if r.Granted == nil {
		r.Granted = map[int64]limit.Share{}
	}
	out.changed = r.meet(now, name, t.counts) || t.write
	for _, c := range t.claims {
		if lent, ok := r.State.Out[c.id]; ok && lent.At == c.at {
			r.unused(c.id, c.calls, now, &out)
		}
	}
	for _, ev := range t.events {
		r.step(ev, now, &out)
	}
	if out.asked = t.asked; t.ask != nil && !r.knows(t) {
		if t.asked != 0 {
			r.step(limit.Event{Kind: limit.Leave, IDs: []int64{t.asked}}, now, &out)
		}
		ev := *t.ask
		ev.ID = r.State.Asked + 1
		out.asked = ev.ID
		r.step(ev, now, &out)
	} else {
		r.step(limit.Event{Kind: limit.Tick}, now, &out)
	}
	if share, granted := r.Granted[out.asked]; granted {
		delete(r.Granted, out.asked)
		out.share, out.changed = &share, true
	}
	r.takeBack(now, &out)
	if next, waits := r.State.Next(); waits {
		out.wait = next.Sub(now)
	} else {
		out.wait = maxLook
	}
	out.state, out.alive = r.State, int64(len(r.Alive))
	return out
}

// fetchedIn is how long a grant is kept for the process that asked for it, which looks each second.
const fetchedIn = 10 * time.Second

// takeBack takes back the grants of processes that did not come for them.
func (r *record) takeBack(now time.Time, out *outcome) {
	for _, id := range slices.Sorted(maps.Keys(r.Granted)) {
		share := r.Granted[id]
		if _, out := r.State.Out[id]; out && now.Sub(share.From) <= fetchedIn {
			continue
		}
		delete(r.Granted, id)
		r.unused(id, share.Calls, now, out)
	}
}

// unused takes back calls that were lent.
func (r *record) unused(id, calls int64, now time.Time, out *outcome) {
	r.step(limit.Event{Kind: limit.Settle, ID: id, Calls: calls, Outcome: limit.Unused}, now, out)
}

// step is one transition of the limiter.
func (r *record) step(ev limit.Event, now time.Time, out *outcome) {
	var effects []limit.Effect
	ev.At = now
	r.State, effects = limit.Step(r.State, ev)
	for n := range effects {
		switch e := &effects[n]; e.Kind {
		case limit.Grant:
			r.Granted[e.Share.ID] = e.Share
		case limit.Deny:
			out.givenUp = out.givenUp || e.Share.ID == out.asked && e.Why == limit.DownTooLong
		}
	}
	out.changed = out.changed || ev.Kind != limit.Tick || len(effects) > 0
}

// knows reports whether the ask waits as it is, or was granted.
func (r *record) knows(t *todo) bool {
	if _, granted := r.Granted[t.asked]; granted || t.anew {
		return granted
	}
	return r.State.Waits(t.asked)
}

// meet notes for how long a process counts from now on, 0 if it leaves, and forgets those that are gone. It
// reports whether others must be told: a process that looks often need not say each time that it is here.
func (r *record) meet(now time.Time, name string, counts time.Duration) bool {
	maps.DeleteFunc(r.Alive, func(_ string, until int64) bool { return until < now.UnixMilli() })
	if r.Alive == nil {
		r.Alive = map[string]int64{}
	}
	known, counted := r.Alive[name]
	if counts == 0 {
		delete(r.Alive, name)
		return counted
	}
	r.Alive[name] = now.Add(counts).UnixMilli()
	return known < now.Add(counts*3/4).UnixMilli()
}
