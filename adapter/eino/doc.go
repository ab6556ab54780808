// Package eino puts retake's feedback, budgets and session into agents and graphs of CloudWeGo Eino: a call
// that Eino would end the run for is answered with what is wrong with it, under one policy, and recorded in a
// session.
//
// Eino goes on calling the model and running the tools. The decisions are those of retake's core: every reply
// is fed to it as a whole before a tool is run, every outcome in call order. An [Adapter] is wired once, into
// a ChatModelAgent with [Adapter.Agent], into graphs and into flow/agent/react with [Adapter.Model] and
// [Adapter.Tools]; each run begins with [Adapter.Start] and ends with [Run.End].
//
// A run that cannot be put right ends with a [loop.RetryExhaustedError], which errors.As finds in the error
// that Eino returns.
package eino
