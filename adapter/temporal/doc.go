// Package temporal executes runs of retake as Temporal workflows. With the same replies and seed, a workflow
// decides as [loop.Loop.Run] does in process. It survives the death of its workers and restarts of the
// server.
//
// [Register] gives a worker what [loop.New] gets in process. [Run] starts a run and waits for its end;
// [Start] returns a [Handle]. Results and errors have the same Go types as in process.
//
//	w := worker.New(c, "agents", worker.Options{})
//	err := temporal.Register(w, temporal.Worker{Model: model, Tools: tools})
//	…
//	result, err := temporal.Run(ctx, c, temporal.Options{ID: "order-42", TaskQueue: "agents"}, "Two nights in Lisbon, please.", cfg)
//
// The workflow calls [machine.Step]. Each model call and each tool call is an activity. A wait is a timer,
// and time is the workflow's. The activity of a model call also reads and checks the reply. Reducers and
// [Worker].Adjust run as side effects. A planner, and code that makes prompts, run in local activities. So
// the history has their results, and a replay does not call them.
//
// A tool that is an agent ([Worker].Agents) makes its runs in child workflows.
//
// The policy decides on all retries. A failed call of a model or a tool is a value, and Temporal repeats an
// activity only if its worker died. Such a repetition is no event and no attempt. A note in the journal
// says that the call may have been paid for twice ([journal.MaybePaid]).
//
// A run keeps the behaviours of the code that began it ([machine.Behaviours]). Temporal's own replay
// compares only the kinds of commands. Therefore the history also records each decision wherever the run
// waits. If a worker's code decides otherwise, the run stops there and reports the difference. [Export]
// makes a journal of a history, for the command retake.
package temporal
