// Package loop runs the inner loop of an LLM agent: ask a model, check what it proposes, tell it what was
// wrong, and ask again under a policy, so that the same replies always lead to the same prompts, waits and
// decisions.
//
// There are four ways in, each one verb over the same core ([github.com/retake-go/retake/loop/machine]):
//
//   - [Run] and [Generate] are the whole loop: model, tools, final answer;
//   - [Do] makes one action under a policy: your function tries, and reads the feedback of the try before;
//   - [Attempts] is the same for a loop that you already have;
//   - [Pool] makes the runs of very many sessions that nearly all wait.
//
// Most callers want [Generate]. Whoever embeds the loop in an engine of their own drives a [Runner], which
// has no clock, no goroutine and no I/O.
//
// # What happens in which order
//
// A reply is read and checked; bad calls are answered with feedback, good ones are run, at most
// [WithParallel] at a time; their results enter in call order, each after the reducers of the session have
// seen it; then the wait, if any; then the next model call. A run that has been decided to stop runs nothing
// more.
//
// # Who runs what, and what the end of the context does
//
// Models are called on the goroutine of the run; each call of a tool has a goroutine of its own. When the
// context ends, the run is recorded as cancelled, or as ended by its deadline, and returns at once, but for
// the model that it has called: it returns when that does, and what that returns is dropped. Tools are not
// waited for: one that ignores its context goes on alone, and its result is dropped. Of a run that is left to
// be resumed ([ErrSuspended]), what tools return is kept for then.
//
// A tool that panics has failed with an error, and so has one that ends its goroutine ([tool.ErrExited]).
// Where a model ends its goroutine, which is that of the run, the run is recorded as cancelled, the session
// is let go, and the goroutine ends as it was asked to. A worker of a [Pool] that ends so is replaced, and
// the caller of [Pool.Await] is told.
//
// A panic of a model, a planner or another function that was given is the caller's: the session is let go,
// and the run is left as it stands. [observe.Observer] contains its own.
//
// # When two calls are the same
//
// Each call of a tool has an idempotency key, [github.com/retake-go/retake/tool.IdempotencyKey]. It stands
// for the session's id, for what had been said when the run began (history and prompt, or [Config].RequestID
// in their place), for the action by its number in the run, for the tool and the arguments. So a call that is
// tried again has the same key, and so has that of a run which is resumed, or made again from its start; the
// next request of a conversation, whose history is longer, has others. A new run with the session id, history
// and prompt of another counts as the same request: where it is not, give each a RequestID of its own.
//
// # What has ended
//
// [Run] on a journal whose last run has ended begins a new run; an equal request has equal keys there.
// [Resume] gives the recorded end, and does nothing. So do [Do] and [Attempts] for an [Action] with an ID
// that has ended in the journal, by success, exhaustion or cancellation; without an ID each is a new action.
// Tries that have not ended go on when they are made again with the journal, and the one that began and has
// no outcome is told to be in doubt ([Attempt].InDoubt).
//
// # What a failure is
//
// Every run that ends without success returns one error type, [RetryExhaustedError]: its Reason says why, and
// errors.Is and errors.As reach that reason and every cause. A fault of the transport plane never costs a
// correction attempt, nor the other way round.
//
// A [planner.Planner] answers exhaustion, and the transport faults that [Config].Consult names before the
// policy is followed; packages planner and degrade have some that are made of data. The runs of a whole agent
// are made by package agent; package observe has logs, counters and callbacks.
package loop
