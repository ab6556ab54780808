package limit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// State is the limiter of one scope. Times are nanoseconds since 1970. Its JSON is a snapshot: a State that
// is read from it continues as the one that was written. It grows with the calls that wait and that are in
// flight, and with nothing else. Make it with [New].
type State struct {
	Config Config `json:"config"`
	Now    int64  `json:"now"`

	// Windows are the limits that are kept by pacing, and Quotas those that are only counted down.
	Windows []Paced `json:"windows,omitempty"`
	Quotas  []Quota `json:"quotas,omitempty"`

	// Pace is the present pace in thousandths of a call a second. It is not kept while the limiter is Open,
	// which it is as long as no retry was refused, and nothing is known of limits and outages: see [Config].
	Pace    int64   `json:"pace"`
	Open    bool    `json:"open,omitempty"`
	Breaker Breaker `json:"breaker"`

	// Asked counts asks; it orders those of the same turn.
	Asked int64 `json:"asked"`
	// Out are the calls in flight by their IDs, and InFlight their number.
	Out      map[int64]outstanding `json:"out"`
	InFlight int64                 `json:"in_flight"`
	// Slots are what was lent to a shared limiter.
	Slots []Share `json:"slots,omitempty"`

	line
	flight
	search
	retries
	loan
}

// line are the calls that wait.
type line struct {
	// First are those to be made for the first time, and Again those to be made again. Both are heaps.
	First queue `json:"first,omitempty"`
	Again queue `json:"again,omitempty"`
	// Overdue is by when a deadline of those that wait may be over; 0 for never.
	Overdue int64 `json:"overdue,omitempty"`
}

// flight is what is known of the calls in flight, and of those before.
type flight struct {
	// Reserved are the tokens of the calls in flight, and Order their IDs in the order in which they are lost
	// if nobody settles them.
	Reserved int64   `json:"reserved"`
	Order    []int64 `json:"order,omitempty"`
	// Given is all that was ever granted, and Since when the first call was.
	Given amount `json:"given,omitzero"`
	Since int64  `json:"since,omitempty"`
	// Usage is how much of their estimates calls use, in millionths, on average: so much is reserved.
	Usage int64 `json:"usage"`
	// Rate counts the grants of the last second.
	Rate recent `json:"rate"`
}

// search is how the pace is found.
type search struct {
	// NextCall is when the pace allows another call.
	NextCall int64 `json:"next_call"`
	// From is when the pace was begun, or another limit became known: calls from before say nothing of it.
	From int64 `json:"from,omitempty"`
	// Seeking is set while the pace doubles in search of the limit.
	Seeking bool `json:"seeking,omitempty"`
	// Cut is when the pace was last cut, and Knee the pace from which it was cut; both 0 for never. CutCalls
	// had been granted by then. RetryAfter is how long the last refusal asked to wait.
	Cut        int64 `json:"cut,omitempty"`
	Knee       int64 `json:"knee,omitempty"`
	CutCalls   int64 `json:"cut_calls,omitempty"`
	RetryAfter int64 `json:"retry_after,omitempty"`
	// Headroom is how far above the knee the limit may be: a call a second after the search, until a refusal.
	Headroom int64 `json:"headroom,omitempty"`
	// CutsInRow counts the cuts since any call was served, the first of which was at FirstCut. Accepted are
	// the calls since AcceptedFrom that the provider did not turn away.
	CutsInRow    int64 `json:"cuts_in_row,omitempty"`
	FirstCut     int64 `json:"first_cut,omitempty"`
	Accepted     int64 `json:"accepted,omitempty"`
	AcceptedFrom int64 `json:"accepted_from,omitempty"`
	// HeldUntil is when calls may go on after refusals in a row.
	HeldUntil int64 `json:"held_until,omitempty"`
}

// retries is what may be made again.
type retries struct {
	// Budget is what is left for retries, in thousandths of one, and LastRetry when one was last granted.
	Budget    int64 `json:"budget"`
	LastRetry int64 `json:"last_retry,omitempty"`
}

// loan is what a shared limiter asks the one above for.
type loan struct {
	// Borrowing is set while it waits for more, with the place Borrowed in the queue above.
	Borrowing bool  `json:"borrowing,omitempty"`
	Borrowed  int64 `json:"borrowed,omitempty"`
	// Busy is until when the limiter above will probably have served all that waited at the last lease.
	Busy int64 `json:"busy,omitempty"`
}

// Paced is a limit that is kept by spreading calls evenly.
type Paced struct {
	Resource string `json:"resource"`
	Limit    int64  `json:"limit"`
	Period   int64  `json:"period_ns"`
	spending
}

// spending is what was taken of a limit.
type spending struct {
	// Next is when another call may begin.
	Next int64 `json:"next"`
	// Left is what the last response said is left, less what was granted since its call, and Told when that
	// was; 0 for never.
	Left int64 `json:"left,omitempty"`
	Told int64 `json:"told,omitempty"`
	recent
}

// recent is what was granted in the last quarters of a period.
type recent struct {
	// Spent are the quarters, each at its number modulo their count. Quarter is the last one's number,
	// counted since 1970.
	Spent   [quarters]int64 `json:"spent"`
	Quarter int64           `json:"quarter"`
}

// quarters are those of a period, the one that has begun, and the next one, in which a call may be granted.
const quarters = 6

// amount is a number of calls, and of their tokens.
type amount struct {
	Calls  int64 `json:"calls"`
	Tokens int64 `json:"tokens"`
}

// Quota is what a response said is left of a long window: Left calls or tokens until Reset.
type Quota struct {
	Name     string `json:"name"`
	Resource string `json:"resource"`
	Left     int64  `json:"left"`
	Reset    int64  `json:"reset"`
}

// Breaker stops calls to a provider that is down, but for a probe now and then.
type Breaker struct {
	Open bool `json:"open,omitempty"`
	// Failed counts the calls in a row that found the provider down.
	Failed int64 `json:"failed,omitempty"`
	// Since is when it opened, Next when the next probe may be made, and Closed when it last closed.
	Since  int64 `json:"since,omitempty"`
	Next   int64 `json:"next,omitempty"`
	Closed int64 `json:"closed,omitempty"`
	// Probe is the ID of the probe that is out, and Lost when it counts as lost; 0 for none.
	Probe int64 `json:"probe,omitempty"`
	Lost  int64 `json:"lost,omitempty"`
}

// outstanding are granted calls that were not settled.
type outstanding struct {
	// Calls are in flight, each with Tokens reserved of the Estimate.
	Calls    int64 `json:"calls"`
	Estimate int64 `json:"estimate,omitempty"`
	Tokens   int64 `json:"tokens,omitempty"`
	// Retry reports that the call failed before.
	Retry bool `json:"retry,omitempty"`
	// At is when they were granted, and Lost when they count as lost.
	At   int64 `json:"at"`
	Lost int64 `json:"lost"`
	// Lender is the ID of the share that they came from, for a shared limiter.
	Lender int64 `json:"lender,omitempty"`
	// Given is all that had been granted with the first of them.
	Given amount `json:"given,omitzero"`
}

// Validate reports why the limiter cannot go on from a State that was read; nil if it can.
func (st *State) Validate() error {
	if st.Config.Parts < 1 || st.Out == nil {
		return errors.New("this is not the state of a limiter")
	}
	latest := st.Now + longestLease/2 // that a call may be granted for
	for n := range st.Windows {
		w := &st.Windows[n]
		if w.Limit < 1 || w.Period < int64(time.Millisecond) || !w.until(latest, w.Period) {
			return fmt.Errorf("windows[%d]: its limit, period or quarter is not that of a limiter", n)
		}
	}
	if !st.Rate.until(latest, second) {
		return errors.New("rate: its quarter is not that of a limiter")
	}
	return st.Config.Validate()
}

// Waiting returns how many asks wait.
func (st *State) Waiting() int { return len(st.First) + len(st.Again) }

// WaitingCalls returns how many calls those that wait ask for.
func (st *State) WaitingCalls() (calls int64) {
	for _, w := range slices.Concat(st.First, st.Again) {
		calls += w.Calls
	}
	return calls
}

// Waits reports whether an ask with this ID waits.
func (st *State) Waits(id int64) bool {
	return slices.ContainsFunc(slices.Concat(st.First, st.Again), func(w waiter) bool { return w.ID == id })
}

func (st *State) queues() [2]*queue { return [...]*queue{&st.First, &st.Again} }

// Clone returns a copy that shares no memory with st.
func (st *State) Clone() State {
	c := *st
	c.Config.Windows = slices.Clone(st.Config.Windows)
	c.Windows, c.Quotas = slices.Clone(st.Windows), slices.Clone(st.Quotas)
	c.First, c.Again = slices.Clone(st.First), slices.Clone(st.Again)
	c.Out, c.Order, c.Slots = maps.Clone(st.Out), slices.Clone(st.Order), slices.Clone(st.Slots)
	return c
}

// Lender returns the share from which calls were granted, and whether they are out. A driver of a shared
// limiter passes what is settled on to the limiter above under this ID.
func (st *State) Lender(id int64) (lender int64, out bool) {
	o, out := st.Out[id]
	return o.Lender, out
}

// Next returns the time when the driver must send a Tick unless something else happens before. It returns
// false if nothing can be granted or denied until another event.
func (st *State) Next() (time.Time, bool) {
	if st.Waiting() == 0 {
		return time.Time{}, false
	}
	at := int64(never)
	for _, q := range st.queues() {
		if len(*q) > 0 {
			at = min(at, st.due(q))
		}
	}
	if st.Overdue > 0 {
		at = min(at, st.Overdue)
	}
	if at == never {
		return time.Time{}, false
	}
	return time.Unix(0, max(at, st.Now)).UTC(), true
}

// due returns the time when the first ask of a queue may be granted; never if something else must happen
// first. A probe is not planned.
func (st *State) due(q *queue) int64 {
	w := &(*q)[0]
	at := st.ready(w, st.Waiting()-1)
	if w.Shared && !st.Breaker.Open && !st.full() && at != never {
		at -= st.ahead()
	}
	return at
}
