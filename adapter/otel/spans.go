package otel

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
)

// The values of gen_ai.operation.name.
const (
	invokeAgent = "invoke_agent"
	chat        = "chat"
	executeTool = "execute_tool"
)

// runKey is the key of the correlation id of a run.
type runKey struct{}

// CorrelationID returns the correlation id of the run in a context. It is empty outside of runs that an
// [Observer] follows.
func CorrelationID(ctx context.Context) string {
	id, _ := ctx.Value(runKey{}).(string)
	return id
}

// Begin begins the span of a run, a model call or a tool run. The returned context has the span, so that
// spans of the model's client or of the tool become its children. That of a run also has the correlation
// id for [Handler].
func (o *Observer) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	switch w.Kind {
	case observe.WorkRun:
		ctx = context.WithValue(ctx, runKey{}, w.CorrelationID)
		ctx, end := o.begin(ctx, w, operation{invokeAgent, o.agent, trace.SpanKindInternal, o.runEnd})
		return ctx, func(e observe.WorkEnd) {
			attrs := filled(agentName.String(o.agent), reason.String(ended(e)), errorType.String(o.runFailure(e)))
			o.runs.Record(ctx, e.At.Sub(w.At).Seconds(), metric.WithAttributes(attrs...))
			end(e)
		}
	case observe.WorkModel:
		m := o.model(w)
		ctx, end := o.begin(ctx, w, operation{chat, m.Name, trace.SpanKindClient, o.modelEnd})
		return ctx, func(e observe.WorkEnd) {
			if e.Source.Host == "" {
				e.Source.Host, e.Source.Port = m.Host, m.Port
			}
			o.measure(ctx, w, e)
			end(e)
		}
	case observe.WorkTool:
		ctx, end := o.begin(ctx, w, operation{executeTool, w.Tool, trace.SpanKindInternal, o.toolEnd})
		return ctx, func(e observe.WorkEnd) {
			attrs := filled(agentName.String(o.agent), toolName.String(o.tools.of(w.Tool)), toolType.String("function"),
				errorType.String(o.toolFailure(e)))
			o.calls.Record(ctx, e.At.Sub(w.At).Seconds(), metric.WithAttributes(attrs...))
			o.measureMCP(ctx, w, e)
			end(e)
		}
	}
	return ctx, nil
}

// operation returns the conventions' name of a kind of work.
type operation struct {
	name, target string
	kind         trace.SpanKind
	end          func(trace.Span, observe.WorkEnd)
}

func (o *Observer) begin(
	ctx context.Context, w observe.Work, op operation,
) (context.Context, func(observe.WorkEnd)) {
	name := op.name
	if op.target != "" {
		name += " " + op.target
	}
	attrs := append(filled(operationName.String(op.name), conversationID.String(w.CorrelationID)),
		o.begun(w)...)
	ctx, span := o.tracer.Start(ctx, name, trace.WithSpanKind(op.kind), trace.WithTimestamp(w.At),
		trace.WithAttributes(attrs...))
	return ctx, func(e observe.WorkEnd) {
		if span.IsRecording() {
			op.end(span, e)
		}
		span.End(trace.WithTimestamp(e.At))
	}
}

// begun returns the attributes at the start of work.
func (o *Observer) begun(w observe.Work) []attribute.KeyValue {
	switch w.Kind {
	case observe.WorkRun:
		m := o.model(w)
		attrs := filled(agentName.String(o.agent), providerName.String(m.Provider),
			requestModel.String(m.Name))
		if w.Resumed {
			attrs = append(attrs, resumed.Bool(true))
		}
		return attrs
	case observe.WorkModel:
		m := o.model(w)
		attrs := filled(providerName.String(m.Provider), requestModel.String(m.Name))
		if most := cmp.Or(w.MaxOutputTokens, int64(m.MaxTokens)); most > 0 {
			attrs = append(attrs, requestTokens.Int64(most))
		}
		attrs = append(attrs, turn.Int(w.Turn), transportAttempt.Int(w.Transport))
		attrs = append(attrs, asked(w)...)
		return append(attrs, counted(w.Attempt, w.MaxAttempts)...)
	}
	return append(filled(toolName.String(w.Tool), toolCallID.String(w.CallID), toolType.String("function")),
		transportAttempt.Int(w.Transport))
}

// model returns the model of a call, or the first one of a run: what the configuration says, else what the
// model says of itself.
func (o *Observer) model(w observe.Work) Model {
	m := o.models[w.Model]
	m.Name = cmp.Or(m.Name, w.Info.Name, w.Model)
	m.Provider = cmp.Or(m.Provider, providers[w.Info.Provider], w.Info.Provider)
	m.MaxTokens = cmp.Or(m.MaxTokens, int(w.Info.MaxOutputTokens))
	return m
}

// providers are the conventions' names of providers that are named otherwise here.
var providers = map[string]string{
	"gemini": "gcp.gemini", "vertex": "gcp.vertex_ai", "azure": "azure.ai.openai", "bedrock": "aws.bedrock",
	"mistral":  "mistral_ai",
	"moonshot": "moonshot_ai", "xai": "x_ai", "watsonx": "ibm.watsonx.ai",
}

func (o *Observer) runEnd(span trace.Span, e observe.WorkEnd) {
	span.SetAttributes(used(e.Usage)...)
	span.SetAttributes(filled(reason.String(ended(e)))...)
	if what := o.runFailure(e); what != "" {
		failed(span, what)
	}
}

// ended returns why a run ended; empty if it could not continue.
func ended(e observe.WorkEnd) string {
	if e.Reason == "" {
		return ""
	}
	return reasons.of(string(e.Reason))
}

// runFailure returns the type of the error of a run; empty if it has an answer.
func (o *Observer) runFailure(e observe.WorkEnd) string {
	switch {
	case e.Err == nil:
		return ""
	case e.Class == "" && reasons.of(string(e.Reason)) != Other:
		return string(e.Reason)
	}
	return o.classes.of(string(e.Class))
}

func (o *Observer) modelEnd(span trace.Span, e observe.WorkEnd) {
	span.SetAttributes(servedBy(e)...)
	if e.Err != nil {
		o.failed(span, e.Class)
		return
	}
	span.SetAttributes(append(used(e.Usage), filled(responseModel.String(e.Model),
		responseID.String(e.Source.ID))...)...)
	if finish := cmp.Or(e.Source.Finish, string(e.Finish)); finish != "" {
		span.SetAttributes(finishReasons.StringSlice([]string{finish}))
	}
	if e.Class != "" {
		span.SetAttributes(failureClass.String(o.classes.of(string(e.Class))))
	}
}

// measure records the duration and the tokens of a model call.
func (o *Observer) measure(ctx context.Context, w observe.Work, e observe.WorkEnd) {
	m := o.model(w)
	attrs := filled(operationName.String(chat), providerName.String(m.Provider), requestModel.String(m.Name))
	if e.Model != "" { // the server's word: a gateway may give each call a name of its own
		attrs = append(attrs, responseModel.String(o.answering.of(e.Model)))
	}
	attrs = append(attrs, servedBy(e)...)
	for kind, n := range map[string]int64{"input": e.Usage.InputTokens, "output": e.Usage.OutputTokens} {
		if n > 0 {
			o.tokens.Record(ctx, n, metric.WithAttributes(attrs...),
				metric.WithAttributes(tokenType.String(kind)))
		}
	}
	if e.Err != nil {
		attrs = append(attrs, errorType.String(o.classes.of(string(e.Class))))
	}
	o.durations.Record(ctx, e.At.Sub(w.At).Seconds(), metric.WithAttributes(attrs...))
}

func (o *Observer) toolEnd(span trace.Span, e observe.WorkEnd) {
	if r := overMCP(e); r != nil {
		span.SetAttributes(filled(mcpMethod.String(r.Method), mcpSession.String(r.SessionID),
			mcpVersion.String(r.Version), transport.String(r.Transport))...)
	}
	if what := o.toolFailure(e); what != "" {
		failed(span, what)
	}
}

// toolError is the conventions' word for the result of a call over MCP that says that the tool failed.
const toolError = "tool_error"

// toolFailure returns the type of the error of a tool; empty if it succeeded.
func (o *Observer) toolFailure(e observe.WorkEnd) string {
	switch {
	case e.Err == nil && e.Class == "":
		return ""
	case e.Err == nil && overMCP(e) != nil: // there is a result
		return toolError
	}
	return o.classes.of(string(e.Class))
}

// measureMCP records the duration of a tool that called a server over MCP.
func (o *Observer) measureMCP(ctx context.Context, w observe.Work, e observe.WorkEnd) {
	r := overMCP(e)
	if r == nil {
		return
	}
	attrs := filled(mcpMethod.String(r.Method), operationName.String(executeTool),
		toolName.String(o.tools.of(w.Tool)),
		mcpVersion.String(r.Version), transport.String(r.Transport))
	attrs = append(attrs, filled(errorType.String(o.toolFailure(e)))...)
	o.mcp.Record(ctx, e.At.Sub(w.At).Seconds(), metric.WithAttributes(attrs...))
}

// overMCP returns the call that a tool made over MCP, or nil.
func overMCP(e observe.WorkEnd) *observe.RemoteCall {
	if e.Remote == nil || e.Remote.Protocol != "mcp" {
		return nil
	}
	return e.Remote
}

// asked returns the parameters of a request that the run sets.
func asked(w observe.Work) (all []attribute.KeyValue) {
	if w.Temperature != nil {
		all = append(all, requestTemp.Float64(*w.Temperature))
	}
	if len(w.Stop) > 0 {
		all = append(all, requestStop.StringSlice(w.Stop))
	}
	if w.Streamed {
		all = append(all, requestStream.Bool(true))
	}
	if w.Structured {
		all = append(all, outputType.String("json"))
	}
	return all
}

// servedBy returns the address of the server.
func servedBy(e observe.WorkEnd) []attribute.KeyValue {
	if e.Source.Host == "" {
		return nil
	}
	if e.Source.Port == 0 {
		return []attribute.KeyValue{serverAddress.String(e.Source.Host)}
	}
	return []attribute.KeyValue{serverAddress.String(e.Source.Host), serverPort.Int(e.Source.Port)}
}

// failed marks the operation as failed. The text of an error may hold anything and is not exported.
func (o *Observer) failed(span trace.Span, c fault.Class) { failed(span, o.classes.of(string(c))) }

func failed(span trace.Span, what string) {
	span.SetAttributes(errorType.String(what))
	span.SetStatus(codes.Error, what)
}

// used returns the usage. A count of zero is unknown.
func used(u message.Usage) []attribute.KeyValue {
	var all []attribute.KeyValue
	for _, a := range []attribute.KeyValue{
		inputTokens.Int64(u.InputTokens), outputTokens.Int64(u.OutputTokens),
		reasoningTokens.Int64(u.ReasoningTokens),
		cacheReadTokens.Int64(u.CacheReadTokens), cacheMadeTokens.Int64(u.CacheWriteTokens),
	} {
		if a.Value.AsInt64() > 0 {
			all = append(all, a)
		}
	}
	return all
}

// filled drops empty attributes.
func filled(all ...attribute.KeyValue) []attribute.KeyValue {
	kept := all[:0]
	for _, a := range all {
		if a.Value.AsString() != "" {
			kept = append(kept, a)
		}
	}
	return kept
}
