// Package eino adds retake's feedback, budgets and sessions to agents and graphs of CloudWeGo Eino. A bad
// call that would end Eino's run gets feedback instead, under one policy, and is recorded in a session.
//
// Eino still calls the model and runs the tools. retake's core decides: it gets every reply as a whole before
// a tool runs, and every outcome in call order. An [Adapter] is wired once: into a ChatModelAgent with
// [Adapter.Agent], into graphs and flow/agent/react with [Adapter.Model] and [Adapter.Tools]. Each run begins
// with [Adapter.Start] and ends with [Run.End].
//
// A run that fails for good ends with a [loop.RetryExhaustedError], which errors.As finds in Eino's error.
package eino
