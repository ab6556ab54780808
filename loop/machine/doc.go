// Package machine is the core of retake: for the same state and the same event, [Step] always gives the same
// state and the same effects.
//
// It has no clock, no randomness, no goroutine and no I/O. Time enters as a field of the [Event]; what is to
// be done leaves as an [Effect], a plain struct that can be printed, compared, journaled and replayed. User
// code (models, tools, validators, reducers, planners) runs in a driver, and enters only as values that carry
// its outcome.
//
// A driver is this loop:
//
//	st, err := machine.New(cfg, session)
//	st, effects, err := machine.Step(st, machine.Event{Kind: machine.Started, At: now, Messages: prompt})
//	for {
//		// carry the effects out in order; the last one says what the machine waits for:
//		//   call_model   ask the model        -> Replied or CallFailed
//		//   make_prompt  run the user's code  -> Prompted
//		//   run_tools    run the calls        -> one ToolEnded per call, in the order of the effect
//		//   try          let the user try     -> Tried
//		//   wait         wait until a time    -> Woke
//		//   ask_planner  ask what follows     -> Planned
//		//   stop         the run is over
//		st, effects, err = machine.Step(st, event)
//	}
//
// [Cancelled] and [Adjusted] fit every phase but [Idle] and [Stopped]; [Dispatched] fits every phase. An
// event that does not fit is an [EventError], and leaves the state as it was. The phases and what fits them
// are the table in step.go.
//
// A [State] is a value: it may be stepped twice, and neither branch sees what the other appends.
package machine
