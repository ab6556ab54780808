package limit_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// call is one call that was granted.
type call struct {
	id     int64
	at     time.Time
	tokens int64
	// ahead is whether it was granted before its time.
	ahead   bool
	settled bool
}

// world is a limiter, what a driver knows of it, and a provider that tells the truth.
type world struct {
	*rapid.T
	config limit.Config
	st     limit.State
	// twin is told the same, and is never written and read.
	twin  limit.State
	now   time.Time
	asks  int64
	waits map[int64]limit.Event
	// out are the calls of each ask that were granted and not settled, and until when they are made.
	out   map[int64]int64
	until map[int64]time.Time
	calls []call
	// ended counts how often each ask was answered or left.
	ended map[int64]int
	// tenths are the most that a call uses of its estimate: 10, or more than any limiter foresees.
	tenths int64
	// told is whether a response told what is left.
	told bool
}

func newWorld(t *rapid.T, c limit.Config) *world {
	st, err := limit.New(c)
	require.NoError(t, err)
	return &world{
		T: t, config: c, st: st, twin: st.Clone(), now: time.Unix(1_900_000_000, 0),
		waits: map[int64]limit.Event{}, out: map[int64]int64{}, until: map[int64]time.Time{}, ended: map[int64]int{},
		tenths: rapid.SampledFrom([]int64{10, 10, 40}).Draw(t, "tenths"),
	}
}

// anyConfig is a config of anything that may be configured.
func anyConfig(t *rapid.T) limit.Config {
	seconds := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Second
	}
	c := limit.Config{
		Concurrency: rapid.SampledFrom([]int64{0, 0, 1, 3, 10}).Draw(t, "concurrency"),
		Parts:       rapid.SampledFrom([]int64{0, 0, 2, 7}).Draw(t, "parts"),
		Start:       rapid.SampledFrom([]int64{0, 0, 10}).Draw(t, "start"),
		Open:        rapid.IntRange(0, 4).Draw(t, "open") == 0,
		MaxWaiting:  rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "max_waiting"),
		Hold:        seconds("hold", 60), Yield: seconds("yield", 60), Ramp: seconds("ramp", 2),
		Failures: rapid.Int64Range(0, 3).Draw(t, "failures"), ProbeEvery: seconds("probe_every", 3),
		GiveUp: seconds("give_up", 300),
	}
	if rapid.Bool().Draw(t, "requests") {
		c.Windows = append(c.Windows, limit.Window{
			Resource: "requests", Limit: rapid.Int64Range(1, 30).Draw(t, "limit"),
			Period: rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Second, time.Minute}).Draw(t, "period"),
		})
	}
	if rapid.Bool().Draw(t, "tokens") {
		c.Windows = append(c.Windows, limit.Window{Resource: "tokens", Limit: rapid.Int64Range(1000, 100_000).Draw(t, "limit"), Period: time.Minute})
	}
	return c
}

// step tells both limiters of an event, does what they say, and looks at everything.
func (w *world) step(ev limit.Event) {
	ev.At = w.now
	if rapid.IntRange(0, 3).Draw(w.T, "written and read") == 0 {
		text, err := json.Marshal(w.st)
		require.NoError(w, err)
		w.st = limit.State{}
		require.NoError(w, json.Unmarshal(text, &w.st))
	}
	var fx, same []limit.Effect
	w.st, fx = limit.Step(w.st, ev)
	w.twin, same = limit.Step(w.twin, ev)
	require.Equal(w, same, fx, "the same events give the same effects")
	if ev.Kind == limit.Ask {
		w.waits[ev.ID] = ev
	}
	for n := range fx {
		w.do(&fx[n])
	}
	for _, id := range ev.IDs {
		if _, waits := w.waits[id]; waits {
			delete(w.waits, id)
			w.ended[id]++
		}
	}
	w.look()
}

func (w *world) do(e *limit.Effect) {
	id := e.Share.ID
	_, waits := w.waits[id]
	require.True(w, waits, "%v %d", e.Kind, id)
	delete(w.waits, id)
	w.ended[id]++
	if e.Kind != limit.Grant {
		require.Equal(w, limit.Deny, e.Kind)
		return
	}
	require.Positive(w, e.Share.Calls)
	require.False(w, e.Share.From.After(w.now.Add(time.Second/10)), "a grant is for now, or soon")
	w.out[id] = e.Share.Calls
	tokens := w.st.Out[id].Tokens
	for n := range e.Share.Calls {
		at := e.Share.From.Add(time.Duration(n) * e.Share.Every)
		if at.Before(w.now) {
			at = w.now
		}
		w.calls = append(w.calls, call{id, at, tokens, at.After(w.now), false})
		w.until[id] = at
	}
	if b := &w.st.Breaker; e.Share.Probe {
		require.Equal(w, int64(1), e.Share.Calls)
		require.LessOrEqual(w, b.Lost, w.now.Add(30*time.Second).UnixNano(), "a probe expires")
	}
}

// look holds what must always be so.
func (w *world) look() {
	require.NoError(w, w.st.Validate())
	require.Equal(w, len(w.waits), w.st.Waiting())
	var inFlight, reserved int64
	for id, o := range w.st.Out {
		require.LessOrEqual(w, o.Calls, w.out[id], "only what was granted is out")
		inFlight, reserved = inFlight+o.Calls, reserved+o.Calls*o.Tokens
	}
	require.Equal(w, inFlight, w.st.InFlight)
	require.Equal(w, reserved, w.st.Reserved)
	if c := w.config.Concurrency; c > 0 {
		require.LessOrEqual(w, inFlight, max(c/w.st.Config.Parts, 1))
	}
	require.LessOrEqual(w, len(w.st.Order), 2*len(w.st.Out)+17, "memory follows what is in flight")
	if at, is := w.st.Next(); len(w.waits) > 0 {
		require.True(w, is, "who waits has a time at which it is looked at")
		require.False(w, at.Before(w.now))
	}
}

// takes is what calls take of a window.
func takes(resource string, calls []call) (n, most int64) {
	for _, c := range calls {
		each := c.tokens
		if resource == "requests" {
			each = 1
		}
		n, most = n+each, max(most, each)
	}
	return n, most
}

// last are the calls of a period before a call, and the call.
func (w *world) last(period time.Duration, end time.Time) []call {
	from := slices.IndexFunc(w.calls, func(c call) bool { return c.at.After(end.Add(-period)) })
	to := slices.IndexFunc(w.calls, func(c call) bool { return c.at.After(end) })
	if to < 0 {
		to = len(w.calls)
	}
	if from < 0 {
		from = to
	}
	return w.calls[from:to]
}

// windows holds that no window had more than it allows.
func (w *world) windows() {
	w.sort()
	for _, known := range w.config.Windows {
		for _, c := range w.calls {
			if known.Resource == "tokens" && w.tenths > 10 {
				break
			}
			calls := w.last(known.Period, c.at)
			n, largest := takes(known.Resource, calls)
			most := (known.Limit + w.st.Config.Parts - 1) / w.st.Config.Parts
			if known.Resource == "tokens" {
				most += largest // as a bucket, which a call may overdraw
			}
			if w.told { // a response may not know of what was lent for a time to come
				lent, _ := takes(known.Resource, slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return !c.ahead }))
				most += lent
			}
			require.LessOrEqual(w, n, most, "%v, calls %v", known, calls)
		}
	}
}

func (w *world) sort() {
	slices.SortStableFunc(w.calls, func(a, b call) int { return a.at.Compare(b.at) })
}

// limits is what a response may say: the truth of what the limiter knows, and anything of other windows.
func (w *world) limits() *ratelimit.State {
	if rapid.Bool().Draw(w.T, "silent") {
		return nil
	}
	s := &ratelimit.State{}
	if rapid.IntRange(0, 3).Draw(w.T, "retry_after") == 0 {
		s.RetryAfter = ratelimit.In(time.Duration(rapid.IntRange(-1, 120).Draw(w.T, "s")) * time.Second)
	}
	if rapid.Bool().Draw(w.T, "known") {
		w.sort()
		w.told = true
		for _, known := range w.config.Windows {
			n, _ := takes(known.Resource, w.last(known.Period, w.now))
			s.Windows = append(s.Windows, ratelimit.Window{
				Resource: known.Resource, Limit: ratelimit.Of(known.Limit), Remaining: ratelimit.Of(max(known.Limit-n*w.st.Config.Parts, 0)),
				Period: ratelimit.In(known.Period),
			})
		}
		return s
	}
	for range rapid.IntRange(0, 2).Draw(w.T, "windows") {
		s.Windows = append(s.Windows, ratelimit.Window{
			Name:      rapid.SampledFrom([]string{"requests_per_2s", "requests_per_day", "tokens_per_3s", "tokens_per_day"}).Draw(w.T, "name"),
			Resource:  rapid.SampledFrom([]string{"requests", "tokens", "input_tokens", "cats"}).Draw(w.T, "resource"),
			Limit:     ratelimit.Of(rapid.Int64Range(-1, 1_000_000).Draw(w.T, "limit")),
			Remaining: ratelimit.Of(rapid.Int64Range(-1, 5).Draw(w.T, "remaining")),
			ResetsIn:  ratelimit.In(time.Duration(rapid.IntRange(-1, 4000).Draw(w.T, "resets")) * time.Second),
		})
	}
	return s
}

func (w *world) ask() {
	w.asks++
	ev := limit.Event{
		Kind: limit.Ask, ID: w.asks, Tokens: rapid.Int64Range(0, 2000).Draw(w.T, "tokens"),
		Priority: rapid.IntRange(-2, 2).Draw(w.T, "priority"), Turn: rapid.Int64Range(0, 20).Draw(w.T, "turn"),
		Retry: rapid.IntRange(0, 2).Draw(w.T, "retry") == 0,
	}
	switch rapid.IntRange(0, 5).Draw(w.T, "how") {
	case 0:
		ev.Deadline = w.now.Add(time.Duration(rapid.IntRange(-1, 100).Draw(w.T, "deadline")) * time.Second)
	case 1, 2:
		ev.Shared, ev.Calls = true, rapid.Int64Range(0, 40).Draw(w.T, "calls")
		ev.Place = time.Duration(rapid.IntRange(-600, 600).Draw(w.T, "place")) * time.Second
	}
	w.step(ev)
}

// anyOf draws one of the numbers of a map.
func anyOf[V any](w *world, m map[int64]V) int64 {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(w.T, "id")
}

var outcomes = []limit.Outcome{limit.Served, limit.Served, limit.Served, limit.Refused, limit.Down, limit.Unused, "?"}

func (w *world) settle() {
	id := anyOf(w, w.out)
	calls := rapid.Int64Range(1, w.out[id]).Draw(w.T, "of its calls")
	ev := limit.Event{Kind: limit.Settle, ID: id, Calls: calls, Outcome: rapid.SampledFrom(outcomes).Draw(w.T, "outcome"), Limits: w.limits()}
	if w.now.Before(w.until[id]) { // it was not made yet
		ev.Outcome, ev.Limits = limit.Unused, nil
	}
	if rapid.Bool().Draw(w.T, "less used") {
		ev.Tokens = w.st.Out[id].Tokens * rapid.Int64Range(1, w.tenths).Draw(w.T, "tenths") / 10
		if _, out := w.st.Out[id]; out && ev.Tokens > 0 && ev.Outcome == limit.Served {
			n := calls
			for k := range w.calls {
				if c := &w.calls[k]; c.id == id && n > 0 && !c.settled {
					c.tokens, c.settled = ev.Tokens, true
					n--
				}
			}
		}
	}
	if w.out[id] -= calls; w.out[id] == 0 {
		delete(w.out, id)
	}
	w.step(ev)
}

// Whatever happens, all that must always be so is so, and in the end nobody waits.
func TestAnyEventsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, anyConfig(t))
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			switch rapid.IntRange(0, 5).Draw(t, "time") {
			case 0:
				if at, is := w.st.Next(); is {
					w.now = at
				}
			case 1, 2:
				w.now = w.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			case 3:
				w.now = w.now.Add(rapid.SampledFrom([]time.Duration{time.Minute, time.Hour, 50 * time.Hour}).Draw(t, "jump") * time.Duration(rapid.IntRange(0, 20).Draw(t, "jumps")/19))
			}
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case kind < 5:
				w.ask()
			case kind < 8 && len(w.out) > 0:
				w.settle()
			case kind == 8 && len(w.waits) > 0:
				id := anyOf(w, w.waits)
				w.step(limit.Event{Kind: limit.Leave, IDs: []int64{id, -1}})
			default:
				w.step(limit.Event{Kind: limit.Tick})
			}
		}
		end, ticks := w.now.Add(10*24*time.Hour), 0
		for len(w.waits) > 0 { // nobody settles anything anymore
			at, _ := w.st.Next()
			before := len(w.waits)
			w.now = at
			w.step(limit.Event{Kind: limit.Tick})
			if next, is := w.st.Next(); is && len(w.waits) == before {
				require.True(t, next.After(at), "a tick changes something")
			}
			ticks++
			require.Less(t, ticks, 1000)
		}
		require.True(t, w.now.Before(end), "nobody starves")
		for id := range w.asks {
			require.Equal(t, 1, w.ended[id+1], "each ask ends once")
		}
		w.windows()
		w.now = w.now.Add(100 * time.Hour)
		w.step(limit.Event{Kind: limit.Tick})
		require.Zero(t, w.st.InFlight)
		text, _ := json.Marshal(w.st)
		require.Less(t, len(text), 5000, "nothing is kept of what has ended")
	})
}

// Events that no driver sends do no harm either.
func TestEventsOfAnyNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		one, _ := limit.New(c)
		two, _ := limit.New(c)
		at := time.Unix(0, 0)
		for n := range rapid.IntRange(1, 100).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
			ev := limit.Event{
				Kind: rapid.SampledFrom([]limit.EventKind{limit.Ask, limit.Ask, limit.Settle, limit.Leave, limit.Tick, limit.Lent, "?"}).Draw(t, "kind"),
				At:   at, ID: rapid.Int64Range(0, int64(n)).Draw(t, "id"), IDs: []int64{int64(n) / 2}, Calls: rapid.Int64().Draw(t, "calls"),
				Tokens: rapid.Int64().Draw(t, "tokens"), Turn: rapid.Int64().Draw(t, "turn"), Shared: rapid.Bool().Draw(t, "shared"), Place: time.Duration(rapid.Int64().Draw(t, "place")),
				Outcome: rapid.SampledFrom([]limit.Outcome{limit.Served, limit.Refused, limit.Down, limit.Unused, ""}).Draw(t, "outcome"),
			}
			two = two.Clone()
			var a, b []limit.Effect
			one, a = limit.Step(one, ev)
			two, b = limit.Step(two, ev)
			require.Equal(t, a, b)
			require.GreaterOrEqual(t, one.InFlight, int64(0))
			require.GreaterOrEqual(t, one.Reserved, int64(0))
		}
	})
}

// What is lent to a process is used once, or given back once, whatever happens in whatever order.
func TestWhatIsLentIsUsedOrGivenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, err := limit.New(limit.Config{Shared: true, Hold: time.Minute})
		require.NoError(t, err)
		now, waits := time.Unix(1_900_000_000, 0), map[int64]bool{}
		var lent, granted, returned, asks int64
		var out []int64
		span := func(name string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Millisecond
		}
		step := func(ev limit.Event) {
			ev.At = now
			var fx []limit.Effect
			st, fx = limit.Step(st, ev)
			for _, e := range fx {
				switch e.Kind {
				case limit.Grant:
					granted, out = granted+1, append(out, e.Share.ID)
					require.False(t, e.Share.From.After(now))
				case limit.Return:
					returned += e.Share.Calls
				}
				if e.Kind == limit.Grant || e.Kind == limit.Deny {
					require.True(t, waits[e.Share.ID], "who waits is answered once")
					delete(waits, e.Share.ID)
				}
			}
			for _, id := range ev.IDs {
				delete(waits, id)
			}
			have := int64(0)
			for _, s := range st.Slots {
				have += s.Calls
			}
			require.Equal(t, lent, granted+returned+have)
			require.Equal(t, len(waits), st.Waiting())
			require.True(t, len(waits) == 0 || st.Borrowing || have > 0, "who waits was lent a call, or has asked for one")
		}
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			now = now.Add(span("ms", 0, 300))
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case kind < 4:
				asks++
				waits[asks] = true
				ev := limit.Event{Kind: limit.Ask, ID: asks, Turn: asks % 7, Retry: rapid.IntRange(0, 3).Draw(t, "retry") == 0}
				if rapid.IntRange(0, 3).Draw(t, "deadline") == 0 {
					ev.Deadline = now.Add(span("in", 0, 10_000))
				}
				step(ev)
			case kind < 6:
				calls := rapid.Int64Range(0, 20).Draw(t, "calls")
				lent += calls
				step(limit.Event{Kind: limit.Lent, Share: limit.Share{
					ID: 1000 + asks, From: now.Add(span("from", -3000, 1000)), Every: span("every", 0, 200), Calls: calls, Queue: span("queue", 0, 20_000),
				}})
			case kind == 6:
				step(limit.Event{Kind: limit.Lent, Why: limit.DownTooLong})
			case kind == 7 && len(out) > 0:
				step(limit.Event{Kind: limit.Settle, ID: out[0], Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome")})
				out = out[1:]
			case kind == 8 && asks > 0:
				id := rapid.Int64Range(1, asks).Draw(t, "leaves")
				step(limit.Event{Kind: limit.Leave, IDs: []int64{id}})
			default:
				step(limit.Event{Kind: limit.Tick})
			}
		}
		step(limit.Event{Kind: limit.Leave, IDs: slices.Sorted(maps.Keys(waits))})
		require.Equal(t, lent, granted+returned)
	})
}
