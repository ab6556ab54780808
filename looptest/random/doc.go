// Package random tests an engine with random runs. From a seed it makes a [Case]: a whole run as data, with
// the policy, the tools, the replies of the model, the reducers and the planner. A [World] plays the case to
// an engine, and a [Trace] says what the engine made of it. [Check] compares the trace of an engine with that
// of [loop.Run], case by case, and names the seed where they differ:
//
//	func TestMyEngine(t *testing.T) {
//		random.Check(t, random.Cases(300), random.Driver{Name: "my engine", Run: run})
//	}
//
//	func run(ctx context.Context, w *random.World) (random.Trace, error) {
//		s, err := session.New(w.Session)
//		if err != nil {
//			return random.Trace{}, err
//		}
//		result, err := myEngine(ctx, w.Model, s, w.Case.Prompt, w.Config, w.Options()...)
//		return w.End(result, err)
//	}
//
// An engine hands over its steps with [World.Record] or [World.ReadJournal], so that they are compared, too.
// [World.Crash] gives the world after a crash. [World.End] checks laws that hold for every engine.
//
// What a case says is what happens outside of the engine, never what the engine has to make of it. So a case
// stays right when retake changes what it decides. The same seed gives the same case on every machine.
package random
