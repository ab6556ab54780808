package otel

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/policy"
)

// Scope is the name of the tracer and of the meter. Its version is that of this module in the program.
const Scope = "github.com/retake-go/retake/adapter/otel"

// scopeVersion returns the version of this module in the program; empty if it is built from its own sources.
func scopeVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	at := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == Scope })
	if at < 0 || info.Deps[at].Version == "(devel)" {
		return ""
	}
	return strings.TrimPrefix(info.Deps[at].Version, "v")
}

// SchemaURL is the version of the conventions whose names are used.
const SchemaURL = "https://opentelemetry.io/schemas/1.41.0"

// The names of the metrics. Prometheus shows them as validation_retry_total, reducer_error_total,
// retake_retry_delay_seconds and retake_retry_attempts.
const (
	// ValidationRetry counts retries of the correction plane, by tool and class.
	ValidationRetry = "validation.retry"
	// ReducerError counts reducer errors, by tool and reducer.
	ReducerError = "reducer.error"
	// RetryDelay is the histogram of waits before retries on either plane, in seconds, by plane and
	// reason.
	RetryDelay = "retake.retry.delay"
	// RetryAttempts is the histogram of the attempts of an action until it closed, by plane, tool and
	// reason.
	RetryAttempts = "retake.retry.attempts"
	// OperationDuration and TokenUsage are the conventions' histograms of model calls: their durations in
	// seconds, and their tokens by gen_ai.token.type.
	OperationDuration = "gen_ai.client.operation.duration"
	TokenUsage        = "gen_ai.client.token.usage"
	// LimiterWait is the histogram of how long calls waited for a limiter, in seconds, by scope and outcome.
	LimiterWait = "retake.limiter.wait"
	// MCPDuration is the conventions' histogram of calls of tools over MCP, in seconds.
	MCPDuration = "mcp.client.operation.duration"
	// RunDuration and ToolDuration are the conventions' histograms of runs and of tool runs, in seconds.
	RunDuration  = "gen_ai.invoke_agent.duration"
	ToolDuration = "gen_ai.execute_tool.duration"
	// WastedTokens and WastedCost count what failed attempts consumed, by plane, tool and class. The cost is
	// in units of money, where the policy has prices.
	WastedTokens = "retake.wasted.tokens"
	WastedCost   = "retake.wasted.cost"
)

// Observer is an [observe.Observer] and [observe.Tracer] that exports to OpenTelemetry. Make it with [New]
// and share it between all runs of a program: it is safe for concurrent use.
type Observer struct {
	tracer trace.Tracer
	agent  string
	models map[string]Model

	tools, reducers, classes, scopes, answering *names

	retries, refused, wasted    metric.Int64Counter
	lost                        metric.Float64Counter
	delays, grants              metric.Float64Histogram
	durations, mcp, runs, calls metric.Float64Histogram
	attempts, tokens            metric.Int64Histogram
}

var _ interface {
	observe.Observer
	observe.Tracer
} = (*Observer)(nil)

// New returns an observer. The error joins all that is wrong with cfg, or is that of the meter.
func New(cfg Config) (*Observer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.TracerProvider == nil {
		cfg.TracerProvider = global.GetTracerProvider()
	}
	if cfg.MeterProvider == nil {
		cfg.MeterProvider = global.GetMeterProvider()
	}
	o := &Observer{
		tracer: cfg.TracerProvider.Tracer(Scope, trace.WithSchemaURL(SchemaURL),
			trace.WithInstrumentationVersion(scopeVersion())), agent: cfg.Agent,
		models: make(map[string]Model, len(cfg.Models)),
		tools:  cfg.toolNames(), reducers: firstNames(cfg.maxNames()), classes: cfg.classNames(),
		scopes: firstNames(cfg.maxNames()), answering: firstNames(cfg.maxNames()),
	}
	for name, m := range cfg.Models {
		o.models[name] = m
	}
	if err := o.instruments(cfg); err != nil {
		return nil, err
	}
	return o, nil
}

// instruments makes the metrics. A series only exists once something has happened.
func (o *Observer) instruments(cfg Config) error {
	if cfg.DelayBounds == nil {
		cfg.DelayBounds = DelayBounds()
	}
	if cfg.AttemptBounds == nil {
		cfg.AttemptBounds = AttemptBounds()
	}
	m := cfg.MeterProvider.Meter(Scope, metric.WithSchemaURL(SchemaURL),
		metric.WithInstrumentationVersion(scopeVersion()))
	var errs [12]error
	o.retries, errs[0] = m.Int64Counter(ValidationRetry, metric.WithUnit("{retry}"),
		metric.WithDescription("Replies that could not be used, after which the model was asked again."))
	o.refused, errs[1] = m.Int64Counter(ReducerError, metric.WithUnit("{error}"),
		metric.WithDescription("Events that a reducer of the session refused."))
	o.delays, errs[2] = m.Float64Histogram(RetryDelay, metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(cfg.DelayBounds...),
		metric.WithDescription("Waits before retries."))
	o.attempts, errs[3] = m.Int64Histogram(RetryAttempts, metric.WithUnit("{attempt}"),
		metric.WithExplicitBucketBoundaries(cfg.AttemptBounds...),
		metric.WithDescription("Attempts that an action took, the first one counted, until it passed or "+
			"was given up."))
	o.durations, errs[4] = m.Float64Histogram(OperationDuration, metric.WithUnit("s"),
		callBounds, metric.WithDescription("GenAI operation duration."))
	o.tokens, errs[5] = m.Int64Histogram(TokenUsage, metric.WithUnit("{token}"),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576,
			4194304,
			16777216, 67108864),
		metric.WithDescription("Number of input and output tokens used."))
	o.mcp, errs[6] = m.Float64Histogram(MCPDuration, metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300),
		metric.WithDescription("The duration of a call of a tool over MCP, as observed by the client."))
	o.grants, errs[7] = m.Float64Histogram(LimiterWait, metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(cfg.DelayBounds...),
		metric.WithDescription("Waits of calls until a limiter granted or denied them."))
	o.runs, errs[8] = m.Float64Histogram(RunDuration, metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6),
		metric.WithDescription("The duration of a run, from its begin or the time at which it was resumed."))
	o.calls, errs[9] = m.Float64Histogram(ToolDuration, metric.WithUnit("s"), callBounds,
		metric.WithDescription("The duration of a single tool execution."))
	o.wasted, errs[10] = m.Int64Counter(WastedTokens, metric.WithUnit("{token}"),
		metric.WithDescription("Tokens that failed attempts consumed."))
	o.lost, errs[11] = m.Float64Counter(WastedCost, metric.WithUnit("{money}"),
		metric.WithDescription("What the tokens of failed attempts cost."))
	return errors.Join(errs[:]...)
}

// callBounds are the conventions' buckets of calls of models and tools.
var callBounds = metric.WithExplicitBucketBoundaries(.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24,
	20.48, 40.96, 81.92)

// Observe counts a notice and adds it as an event to the span in ctx: that of the run, or the caller's own
// around loop.Do, loop.Attempts and agent.Retry.
func (o *Observer) Observe(ctx context.Context, n observe.Notice) {
	switch n.Kind {
	case observe.Retrying:
		if n.Plane == fault.Correction {
			o.retries.Add(ctx, 1,
				metric.WithAttributes(o.tool(n, errorType.String(o.classes.of(string(n.Class))))...))
		}
		o.delays.Record(ctx, n.Delay.Seconds(), metric.WithAttributes(plane.String(string(n.Plane)), why(n)))
		o.event(ctx, "retake.retry", n, delaySeconds.Float64(n.Delay.Seconds()))
	case observe.ReducerFailed:
		name := reducerName.String(o.reducers.of(n.Reducer))
		o.refused.Add(ctx, 1, metric.WithAttributes(o.tool(n, name)...))
		o.event(ctx, "retake.reducer_error", n, name)
	case observe.Granted:
		o.grants.Record(ctx, n.Grant.Waited.Seconds(), metric.WithAttributes(
			limiterScope.String(o.scopes.of(n.Grant.Scope)), limiterOutcome.String(outcomeOf(n.Grant))))
	case observe.Exhausted:
		o.closed(ctx, n)
		o.event(ctx, "retake.exhausted", n)
	case observe.AttemptEnded:
		if n.Class != "" {
			o.waste(ctx, n)
		}
		if closes(n) {
			o.closed(ctx, n)
		}
	}
}

// closes reports whether an attempt closed its action without a notice of exhaustion. An attempt that
// nobody waited for does not count.
func closes(n observe.Notice) bool {
	return (n.Class == "" && !n.Reason.GaveUp()) || n.Reason == policy.ReasonReducerError
}

func (o *Observer) closed(ctx context.Context, n observe.Notice) {
	o.attempts.Record(ctx, int64(n.Attempt), metric.WithAttributes(o.tool(n,
		plane.String(string(n.Plane)), why(n))...))
}

// waste counts what a failed attempt consumed.
func (o *Observer) waste(ctx context.Context, n observe.Notice) {
	attrs := metric.WithAttributes(o.tool(n, plane.String(string(n.Plane)),
		errorType.String(o.classes.of(string(n.Class))))...)
	if tokens := n.Usage.Total(); tokens > 0 {
		o.wasted.Add(ctx, tokens, attrs)
	}
	if n.Cost > 0 {
		o.lost.Add(ctx, float64(n.Cost)/1e6, attrs)
	}
}

func why(n observe.Notice) attribute.KeyValue { return reason.String(reasons.of(string(n.Reason))) }

// tool adds the name of the tool. The final answer has none. A name that a model made up is not exported.
func (o *Observer) tool(n observe.Notice, to ...attribute.KeyValue) []attribute.KeyValue {
	switch {
	case n.Action == "":
		return to
	case n.Invented || n.Class == fault.UnknownTool:
		return append(to, toolName.String(Other))
	}
	return append(to, toolName.String(o.tools.of(n.Action)))
}

// event adds an event to the span in ctx, at the driver's time.
func (o *Observer) event(ctx context.Context, name string, n observe.Notice, more ...attribute.KeyValue) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attrs := o.tool(n, plane.String(string(n.Plane)), failureClass.String(o.classes.of(string(n.Class))),
		why(n))
	attrs = append(append(attrs, counted(n.Attempt, n.MaxAttempts)...), more...)
	span.AddEvent(name, trace.WithTimestamp(n.At), trace.WithAttributes(attrs...))
}

// counted returns the number of attempts and its maximum. Unbounded and unknown numbers are left out.
func counted(made, most int) []attribute.KeyValue {
	var all []attribute.KeyValue
	if made > 0 {
		all = append(all, attempt.Int(made))
	}
	if most > 0 {
		all = append(all, maxAttempts.Int(most))
	}
	return all
}
