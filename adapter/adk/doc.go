// Package adk puts retake's feedback, budgets and session into agents of Google's Agent Development Kit: bad
// calls are answered with what is wrong with them and counted, unusable answers are corrected, transport
// faults waited out, under one policy.
//
// ADK goes on calling the model and running the tools. The decisions are those of retake's core: every reply
// is fed to it as a whole before a tool is run, every outcome in call order. An [Adapter] is wired in two
// places: its [Adapter.Plugin] into the runner, and [Adapter.Model] around the model of each agent, since no
// callback of ADK can ask a model again.
//
// A run that cannot be put right ends with a [loop.RetryExhaustedError], which errors.As finds in the error
// that ADK's runner yields.
package adk
