// Package limiter drives package limit: it keeps a limiter for each scope, with a clock, and grants calls to
// all who ask in this process or, with a [Store], in many.
//
// A call is asked for with [Limiter.Ask], which never blocks, or [Limiter.Acquire], which does. Whoever got a
// [Grant] makes one call, and settles it with [Limiter.Settle]:
//
//	grant, err := l.Acquire(ctx, limiter.Ask{Scope: "search-api"})
//	if err != nil {
//		return err
//	}
//	reply, err := search(ctx, query)
//	l.Settle(grant, limiter.Use{Outcome: outcomeOf(err)})
//
// # Scopes
//
// A scope is what has limits of its own: one model of one provider, say, or one key of it. It is a name, and
// nothing has to be declared. Scopes that nobody used for some time are forgotten, so that a limiter does not
// grow with those that it has seen.
//
// # Processes
//
// Limiters of many processes with the same [Store] keep the limits together. A process borrows calls for some
// tenths of a second at once, so that most grants need no message. What a dead process had borrowed comes to
// nothing by itself. While the store cannot be reached, each of those that were alive keeps to its part of
// the last known limits, and says so: see [Notice]. A record that the store has lost is made again from what
// a process knew last: what others borrowed since comes on top of the limit once. So that it is known who is,
// a process that uses a scope speaks to the store within seconds, and less often the longer it has nothing to
// say.
package limiter
