// Package adk adds retake's feedback, budgets and sessions to agents of Google's Agent Development Kit. Under
// one policy, bad calls get feedback and count as attempts, unusable answers are corrected, and transport
// faults are waited out.
//
// ADK still calls the model and runs the tools. retake's core decides: it gets every reply as a whole before
// a tool runs, and every outcome in call order. An [Adapter] is wired in two places: [Adapter.Plugin] into
// the runner, and [Adapter.Model] around the model of each agent, because no callback of ADK can ask a model
// again.
//
// A run that fails for good ends with a [loop.RetryExhaustedError], which errors.As finds in the error of
// ADK's runner.
package adk
