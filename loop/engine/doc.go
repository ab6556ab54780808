// Package engine has the parts of a driver without a clock and I/O of their own. It is for engines that keep
// the state of the core themselves and step it with [machine.Step], for example workflow engines that rerun
// code from its history. [Call] makes a call within its limits: it starts a goroutine, and is given the
// clock.
//
// # What an engine answers
//
// The last effect of a step asks for something, and the engine answers it with an event. A [Runner] has a
// method for each. An engine without one implements [Answers], which [Execute] calls, and makes the events
// with the functions named below, at its own time; [Reducing] adds what reducers make of them. Package
// loop/engine/usercode calls the user's code.
//
//	effect       the engine                            and answers with
//	decided      does nothing: it reports              -
//	settled      does nothing: it reports              -
//	call_model   asks the model, within [LimitsOf]:    Replied: [Read], then [Reducing];
//	             usercode.Reply                        CallFailed: [RateLimit] and fault.FailureOf
//	make_prompt  runs the user's code                  Prompted
//	estimate     -                                     Estimated, from [Offer.Answer]
//	grant        asks the limiter, and waits with it   Granted
//	run_tools    runs the calls of State.Left          ToolEnded, one a call and in their order: [EndOf], then
//	                                                   [Reducing]
//	try          lets the user try                     Tried, and the reducers of [TryEvents]
//	wait         waits                                 Woke, from [Woke]
//	ask          waits for people: usercode.Judge      Responded: [Answered], then [Reducing]; Woke at
//	                                                   machine.AskedUntil
//	ask_planner  asks the planner: usercode.Plan       Planned: machine.Plan.Fault checks it
//	reduce       runs the reducers: [Heard]            ReducersRan
//	shorten      -                                     Shortened, from [Offer.Answer]
//	summarise    State.Span: usercode.SumUp            Summarised, with State.PlanSummary
//	stop         ends                                  -
//
// These come from outside, between two effects:
//
//	Started      begins the run
//	Spoken       is a user's message, from [Spoken]; before the next model call
//	Adjusted     is another policy; State.AdjustFault checks it
//	Dispatched   is an event of the user, with what [Reduce] makes of it
//	Cancelled    ends the run
//	Broken       ends a run that cannot continue: [CauseOf]
//
// [Step] knows which calls have begun when an event ends the run. A call whose worker is gone has the verdict
// machine.Unknown unless it may be repeated.
package engine
