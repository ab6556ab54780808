// Package temporal makes runs of retake on Temporal: for the same replies and seed a workflow decides what
// [loop.Run] decides in process, and outlives the workers and the server that it is made on.
//
// A worker is given what loop.Run is given, in one call ([Register]); a run is started in one call ([Run], or
// [Start] and a [Handle]), and its result and errors are of the same Go types.
//
//	w := worker.New(c, "agents", worker.Options{})
//	err := temporal.Register(w, temporal.Worker{Model: model, Tools: tools})
//	…
//	result, err := temporal.Run(ctx, c, temporal.Options{ID: "order-42", TaskQueue: "agents"}, "Two nights in Lisbon, please.", cfg)
//
// The workflow steps [machine.Step] itself. A model call is an activity, and so is each tool call; a wait is
// a timer, time is the workflow's. Replies are read and checked in the model's activity. Reducers and
// [Worker].Adjust run as side effects, a planner and code that makes prompts in local activities, so that the
// history holds what they said and not the code.
//
// Retries are the policy's: whatever a model or tool does is a value, and the engine begins an activity again
// only where its worker died. Such a call is no event and no attempt; a note in the journal says that it may
// have been paid for ([journal.MaybePaid]).
//
// Runs keep the behaviours of the code that began them ([machine.Behaviours]). The engine's replay compares
// kinds of commands; here the history holds what was decided wherever the run waits, so that code which
// decides otherwise stops when it wakes up, and says where. [Export] makes a journal of a history, which the
// command retake reads.
package temporal
