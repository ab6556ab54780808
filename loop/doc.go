// Package loop runs the inner loop of an LLM agent. It asks a model, checks what the model proposes, tells it
// what was wrong, and asks again under a policy. The same replies always lead to the same prompts, waits and
// decisions.
//
// There are four ways in, all on the same core ([github.com/retake-go/retake/loop/machine]):
//
//   - [New] makes a [Loop] of a model and a config. Its [Loop.Run] and [Generate] are the whole loop: model,
//     tools, final answer. [Loop.Resume] finishes what another process began.
//   - [Do] makes one action under a policy: it calls your function with the feedback on the previous try.
//   - [Attempts] does the same for a loop that you already have.
//   - [Pool] runs many sessions that mostly wait.
//
// Most callers want [Generate]. All four take a session. If it was made with a journal, everything is
// recorded there ([session.Config].Journal); no other place has one. To embed the loop in your own engine,
// use the Runner of package loop/engine, which has no clock, no goroutines and no I/O.
//
// # Order of events
//
// A reply is read and checked. Invalid calls are answered with feedback; valid ones are run, at most
// [WithParallel] at a time. Their results enter in call order, each after the reducers of the session. Then
// comes the wait, if any, and the next model call. A run that was decided to stop runs nothing more.
//
// # Goroutines and cancellation
//
// Each tool call has its own goroutine, and so has each call of a model, a prompt function or a planner that
// a timeout or the end of the context may interrupt. Their contexts end with the run. When the context of the
// run ends, or its deadline comes, the run is recorded as cancelled, or as ended by its deadline, and returns
// at once. It does not wait for those functions: one that ignores its context continues alone, and its result
// is dropped. If the run is left to be resumed ([NotifyShutdown], [ErrSuspended]), what tools return is kept.
// The run does wait for reducers and observers. The guide to guarantees has a table of what it waits for.
//
// A tool that panics has failed with an error, and so has one that ends its goroutine ([tool.ErrExited]). If
// a model ends its goroutine, which is that of the run, the run is recorded as cancelled and the session is
// released. A worker of a [Pool] that ends in this way is replaced, and [Pool.Await] returns.
//
// A panic of a model, a planner or another given function is not recovered. The session is released, and the
// run can be resumed. If the function had its own goroutine, Run panics with an error that wraps a
// [fault.PanicError], which has its stack. Panics of an [observe.Observer] are recovered.
//
// # Idempotency keys
//
// Each tool call has an idempotency key, [github.com/retake-go/retake/tool.IdempotencyKey]. It depends on the
// session's id, the request, the number of the action in the run, the tool and the arguments. So a call that
// is tried again has the same key, also in a run that is resumed or made again. The request is
// [Input].RequestID, or the number of messages when the run began and the last eight of them, the prompt
// among them. The next request of a conversation has more messages and so other keys. Give each request a
// RequestID if two of a session may begin with the same words at the same place.
//
// # Ended runs
//
// [Loop.Run] on a journal whose last run has ended begins a new run, unless a run with its RequestID has
// ended there; an equal request has equal keys. [Loop.Resume] returns the recorded end and does nothing. So
// do [Do] and [Attempts] for an [Action] with an ID that has ended in the journal, by success, exhaustion or
// cancellation. Tries that have not ended continue when they are made again with the journal; a try that
// began and has no outcome is in doubt ([Attempt].InDoubt).
//
// # Failures
//
// A run that ends without an answer returns a [RetryExhaustedError]. Its Reason says why; errors.Is and
// errors.As find that reason and every cause. A failure of the transport plane never costs a correction
// attempt, nor the other way round. Other errors say that a run did not begin (its input, its session), was
// left to be resumed ([ErrSuspended]), or could not go on: its prompt could not be made, or its journal could
// not be written.
//
// A [planner.Planner] decides what follows exhaustion, and about transport failures that [Config].Consult
// names. Packages planner and degrade have ready-made planners. Package agent runs whole agents; package
// observe has logs, counters and callbacks.
package loop
