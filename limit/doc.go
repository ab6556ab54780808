// Package limit decides when the calls of many sessions may be made, so that together they stay within the
// limits of a provider: with the same state and the same events, always in the same way.
//
// A [State] is the limiter of one scope, such as one model of one provider, or one key of it. [Step] takes it
// from one event to the next, and returns what the driver has to do. It has no clock, no goroutine and no
// I/O: times are fields of events. A driver keeps one State for each scope, and may drop one that nothing
// waits for and nothing is out of.
//
// An ask waits until it is granted or denied. It reserves an estimate of its tokens, and settles what was
// really used. No limit need be configured:
//
//   - Where responses tell limits, calls are spread evenly over each window of up to a minute, and what is
//     left of longer ones is counted down. See [Event].Limits.
//   - Who asks while nobody waits is not spread: the call is granted at once if the windows have room for
//     it, by what the last response said is left, or by what was granted in the last period. Where no limit
//     is known, so is a call while no other one is in flight.
//   - Where they tell nothing, the pace doubles until a call is refused, and from then on rises slowly and
//     falls at each refusal. A refusal in spite of a grant always counts. The longer it asks to wait, the
//     longer the pace stays below the one that was refused: twenty times as long, and at most an hour. With
//     Config.Open there is no pace until a retry is refused or finds the provider down, or a limit is told.
//     While a pace is kept, no limit is known and others wait, the refusal of a call that was not made before
//     is excused: it is charged to nobody, and the call waits until calls are served.
//   - While calls find the provider down, the breaker lets one probe through now and then. A probe that nobody
//     settles is lost in time, and another one is made. In the end those that wait are denied.
//   - Retries are slowed down when too many calls fail: each failure takes from a budget, and each success
//     gives it a part of one retry.
//
// Asks are granted in the order in which they were made. Sessions that made few calls so far go before others
// by some time, by ten minutes at most, and each step of priority counts as ten minutes. Config.Yield sets
// both. So nobody starves.
//
// # Processes
//
// Processes share one limiter by leases. Each has a State with Config.Shared, whose borrow effects are asks
// for several calls at the limiter above: one in a store, say. What that grants is told in a Lent event: a
// number of calls and the times from which each may be made. So most calls need no message, all of them
// together keep the pace, and what a dead process holds comes to nothing by itself. An ask above has the
// place of the first call that waits below, so calls go in one order in all processes. What calls settle in a
// process is also settled above, under the ID that [State.Lender] says.
package limit
