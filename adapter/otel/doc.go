// Package otel tells OpenTelemetry what runs do: an [Observer] is an observe.Observer that counts retries,
// keeps histograms of delays and attempts, and makes a span for each run, model call and tool run, under the
// names of the GenAI conventions; [Handler] makes log records carry the trace and the correlation id.
//
//	observer, err := otel.New(otel.Config{Models: map[string]otel.Model{"": {Provider: "anthropic", Name: "claude-sonnet-4-5"}}})
//	result, err := loop.Run(ctx, model, s, prompt, cfg, loop.WithObserver(observer))
//
// It uses the API alone: which SDK and exporter there are is the program's choice, and without any nothing is
// recorded.
//
//   - Nothing is told by a replay, by folding a journal, or by the Resume of a run that has ended.
//   - Attributes of metrics have few values: names of tools and reducers are bounded by [Config], classes and reasons are
//     those of retake. No id is among them.
//   - What was retried does not fail the operation around it: error.type stands on the call that failed, and on the run only
//     where the run failed. A reply that cannot be used is a call that went well: retake.failure.class says what was wrong.
//   - No text of an error, prompt, reply, argument or result is ever told.
package otel
