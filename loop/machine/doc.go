// Package machine is the core of retake. For the same state and event, [Step] always returns the same state
// and effects.
//
// It has no clock, randomness, goroutines or I/O. The time is a field of the [Event]. What has to be done is
// an [Effect], a plain struct that can be printed, compared, journaled and replayed. User code (models,
// tools, validators, reducers, planners) runs in a driver; only its outcomes enter the core, as values.
//
// A driver is this loop:
//
//	st, err := machine.New(cfg, session)
//	effects, err := machine.Step(&st, &machine.Event{Kind: machine.Started, At: now, Messages: prompt})
//	for {
//		// Carry out the effects in order. The last one says what the machine waits for:
//		//   call_model   ask the model        -> Replied or CallFailed
//		//   make_prompt  run the user's code  -> Prompted
//		//   estimate     estimate the prompt  -> Estimated
//		//   grant        ask the limiter      -> Granted
//		//   shorten      cut the prompt       -> Shortened
//		//   summarise    sum up messages      -> Summarised
//		//   run_tools    run the calls        -> one ToolEnded per call, in the order of the effect
//		//   try          let the user try     -> Tried
//		//   wait         wait until a time    -> Woke
//		//   ask          ask people           -> Responded, or Woke at the earliest deadline
//		//   ask_planner  ask what follows     -> Planned
//		//   reduce       run the reducers     -> ReducersRan
//		//   stop         the run is over
//		effects, err = machine.Step(&st, &event)
//	}
//
// [Cancelled], [Broken], [Adjusted] and [Spoken] are valid in every phase but [Idle] and [Stopped];
// [Dispatched] is valid in every phase. An event that does not fit returns an [EventError] and leaves the
// state unchanged. The table in step.go lists what each phase waits for.
//
// A [State] is a value. A copy may be stepped, too, and neither sees what the other appends.
package machine
