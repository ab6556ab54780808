// Package dbos runs retake's loop as a durable workflow of DBOS (dbos-transact-golang), whose record is in a
// PostgreSQL database. With the same replies and seed a workflow decides as [loop.Loop.Run] does in process.
// It survives the death of its process.
//
// [Register] gives a DBOS context an [Agent] before it is launched; [Registered.Start] starts a run, and
// [Run.Result] waits for its end.
//
// The workflow calls [machine.Step]. Each model call, tool call, summary and prompt, each call of reducers
// and of a planner, and each reading of the clock is a step of DBOS, whose result is a value in its record.
// A person's answer and a user's words are messages of DBOS ([Answer], [Say]), for which a run also waits in
// its waits and while a model is called.
//
// DBOS repeats a step that a crash cut off. Therefore a tool that declares nothing has a step before it that
// says "begun". If that one is read from the record, and the call has no result there, the call is in doubt
// and is not made again ([tool.ErrUnknown]). Tools that are idempotent or read only, models and all other
// user code are called again.
package dbos
