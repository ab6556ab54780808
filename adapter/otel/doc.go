// Package otel exports runs to OpenTelemetry. An [Observer] is an observe.Observer that counts retries, keeps
// histograms of delays and attempts, and makes a span for each run, model call and tool run, with the names
// of the GenAI conventions. [Handler] adds the trace and the correlation id to log records.
//
//	observer, err := otel.New(otel.Config{Models: map[string]otel.Model{"": {Provider: "anthropic", Name: "claude-sonnet-4-5"}}})
//	l, err := loop.New(model, cfg, loop.WithObserver(observer))
//	result, err := l.Run(ctx, s, prompt)
//
// It only uses the API of OpenTelemetry. The program chooses the SDK and the exporter; without one nothing is
// recorded.
//
//   - A replay, folding a journal, and Resume of a run that has ended export nothing.
//   - Attributes of metrics have few values: [Config] bounds the names of tools, of reducers and
//     of the models that answer, and classes and reasons are retake's own. No id is among them.
//   - A retry does not fail the operation around it: error.type is on the call that failed, and on the
//     run only if the run failed. A reply that cannot be used is a successful call: retake.failure.class
//     says what was wrong.
//   - The text of an error, prompt, reply, argument or result is never exported.
package otel
