// Package random tests an engine with random runs. From a seed it makes a [Case]: a whole run as data, with
// the policy, the tools, the replies of the model, the reducers and the planner. A [World] plays the case to
// an engine, and a [Trace] says what the engine made of it. [Check] compares the trace of an engine with that
// of [loop.Loop.Run], case by case, and names the seed where they differ:
//
//	func TestMyEngine(t *testing.T) {
//		random.Check(t, random.Cases(300), random.Driver{Name: "my engine", Run: run})
//	}
//
//	func run(ctx context.Context, w *random.World) (random.Trace, error) {
//		s, j, err := w.Begin(ctx)
//		if err != nil {
//			return random.Trace{}, err
//		}
//		for in := range w.Inputs(s) {
//			w.Ended(myEngine(ctx, w.Model, s, in, w.Config, w.Options()...))
//		}
//		if err := errors.Join(j.Close(), w.ReadJournal()); err != nil {
//			return random.Trace{}, err
//		}
//		return w.Trace()
//	}
//
// An engine without a journal makes its session of [World].Session, and hands over its steps with
// [World.Record], so that they are compared, too. One without options takes the planner and what else the
// user wrote from the fields of the World. ctx ends where the case cancels the run: see [World.Context].
//
// An engine need not be able to make every case. [Driver].Takes leaves out the others: tries of a single
// action ([Case].Action), further runs of the session ([Case].Follows), runs that are cancelled
// ([Case.Cancels]), calls that hang until a time limit of [World].Clock ([Case].Hangs), people who are asked
// ([Case].Answers) or speak to the run ([Case].Says), calls that are agents ([Case.NestsTools]: see
// [World].Agents) or make runs within ([Case.NestsCode]). [World.Options]
// has the approver; an engine without options asks [World.Answer], and hears what is said by [World].Hear.
//
// [World.Crash] gives the world after a crash. [World.Trace] checks laws that hold for every engine, and
// [World.ReadJournal] that the journal replays and, if it is redacted ([World.Redact]), that it has no secret
// that its rules leave out. [World.Leaks] looks for one in what else was made from the journal.
//
// What a case says is what happens outside of the engine, never what the engine has to make of it. So a case
// stays right when retake changes what it decides. The same seed gives the same case on every machine.
package random
