// Package simulate plays a fleet of sessions against a provider with limits and outages, on a clock of its
// own. The same settings always give the same result.
//
// Sessions arrive, make one call after the other, and retry by a policy. Their processes ask one of several
// limiters before each call, or none. The limiter of package limit runs as in production: its own state
// machine in each process, and one that they share behind a store that takes a millisecond each way.
//
// A provider allows its requests and tokens in any second, wherever that second begins. If that is no whole
// number of calls, it allows the next lower whole number, at least one, in the time that these take. A
// refusal comes back at once, and so does the failure of a call while the provider is down. A call that is in
// flight when it goes down fails then. Each session estimates a quarter more tokens than a call uses.
package simulate
