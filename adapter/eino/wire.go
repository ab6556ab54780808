package eino

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	einoschema "github.com/cloudwego/eino/schema"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	retake "github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// Agent wires the adapter into the config of a ChatModelAgent: into its tools, its retry hook, and a
// handler that waits before model calls. The error joins all settings that conflict. Agent changes conf;
// wire it once.
func (a *Adapter) Agent(conf *adk.ChatModelAgentConfig) error {
	var errs []error
	if conf.ModelRetryConfig != nil {
		errs = append(errs,
			errors.New("retake: ModelRetryConfig: must be nil: the policy decides on model retries"))
	}
	if err := errors.Join(append(errs, a.fits(&conf.ToolsConfig.ToolsNodeConfig))...); err != nil {
		return err
	}
	who := &speaker{a}
	conf.ModelRetryConfig = &adk.ModelRetryConfig{
		MaxRetries: math.MaxInt32, ShouldRetry: who.shouldRetry,
		BackoffFunc: func(context.Context, int) time.Duration { return 0 },
	}
	conf.Handlers = append([]adk.ChatModelAgentMiddleware{&handler{who: who}}, conf.Handlers...)
	return a.Tools(&conf.ToolsConfig.ToolsNodeConfig)
}

// Tools wires the adapter into the config of a ToolsNode, for graphs and flow/agent/react. Wrap their
// model with [Adapter.Model]. The error joins all settings that conflict. Tools changes conf; wire it
// once.
func (a *Adapter) Tools(conf *compose.ToolsNodeConfig) error {
	if err := a.fits(conf); err != nil {
		return err
	}
	a.sequential = a.sequential || conf.ExecuteSequentially
	conf.ToolCallMiddlewares = append([]compose.ToolMiddleware{a.middleware()}, conf.ToolCallMiddlewares...)
	conf.UnknownToolsHandler = a.unknownTool
	return nil
}

// fits returns an error for settings that conflict: arguments are checked as the model wrote them, under
// the names that it was offered.
func (a *Adapter) fits(conf *compose.ToolsNodeConfig) error {
	var errs []error
	for _, c := range []struct {
		wrong bool
		what  string
	}{
		{conf.UnknownToolsHandler != nil,
			"UnknownToolsHandler: must be nil: unknown tools are answered with feedback"},
		{conf.ToolArgumentsHandler != nil,
			"ToolArgumentsHandler: must be nil: it would change arguments that have been checked already"},
		{len(conf.ToolAliases) > 0, "ToolAliases: must be empty: a call is held to the name and the schema " +
			"that the model was offered"},
	} {
		if c.wrong {
			errs = append(errs, errors.New("retake: "+c.what))
		}
	}
	return errors.Join(errs...)
}

// handler waits before the model calls of a ChatModelAgent.
type handler struct {
	adk.BaseChatModelAgentMiddleware
	who *speaker
}

// WrapModel wraps the model within Eino's retries, so that it sees every try.
func (h *handler) WrapModel(_ context.Context, m chatBase, _ *adk.ModelContext) (chatBase, error) {
	return &gate{h.who, m}, nil
}

type (
	chatBase = model.BaseModel[*einoschema.Message]
	stream   = *einoschema.StreamReader[*einoschema.Message]
)

// gate delays the calls of a model until the run allows them.
type gate struct {
	who   *speaker
	inner chatBase
}

// Generate calls the model after the wait.
func (g *gate) Generate(
	ctx context.Context, in []*einoschema.Message, opts ...model.Option,
) (*einoschema.Message, error) {
	opts, err := g.who.before(ctx, in, nil, opts)
	if err != nil {
		return nil, err
	}
	return g.inner.Generate(ctx, in, opts...)
}

// Stream is as Generate.
func (g *gate) Stream(ctx context.Context, in []*einoschema.Message, opts ...model.Option) (stream, error) {
	opts, err := g.who.before(ctx, in, nil, opts)
	if err != nil {
		return nil, err
	}
	return g.inner.Stream(ctx, in, opts...)
}

// before waits before a model call as the core demands, and notes its tools. It returns the options of the
// call, with the run's settings after Eino's own.
func (who *speaker) before(
	ctx context.Context, in []*einoschema.Message, bound []*einoschema.ToolInfo, opts []model.Option,
) ([]model.Option, error) {
	run, err := who.a.run(ctx)
	if err == nil {
		err = run.speaks(who)
	}
	if err != nil {
		return nil, err
	}
	tools, err := who.tools(run, bound, opts)
	if err == nil {
		err = run.of.Next(ctx, tools, func() []message { return saidBefore(in) })
	}
	if err != nil {
		run.spoke(0)
		return nil, err
	}
	c := run.of.Asked()
	if own := model.GetCommonOptions(nil, opts...).MaxTokens; own != nil && *own > 0 && c.MaxOutputTokens > int64(*own) {
		c.MaxOutputTokens = 0 // the runtime's own bound is lower
	}
	return append(slices.Clip(opts), options(c)...), nil
}

// tools returns the tools of a model call.
func (who *speaker) tools(run *Run, bound []*einoschema.ToolInfo, opts []model.Option) (*tool.Set, error) {
	all, err := who.a.offered(model.GetCommonOptions(&model.Options{Tools: bound}, opts...).Tools)
	if err != nil {
		return nil, err
	}
	return run.offered.Set(all)
}

// options converts the settings of the core's model call.
func options(c machine.ModelCall) (opts []model.Option) {
	if c.Temperature != nil {
		opts = append(opts, model.WithTemperature(float32(*c.Temperature)))
	}
	if c.Model != "" {
		opts = append(opts, model.WithModel(c.Model))
	}
	if c.MaxOutputTokens > 0 {
		opts = append(opts, model.WithMaxTokens(int(c.MaxOutputTokens)))
	}
	if len(c.Stop) > 0 {
		opts = append(opts, model.WithStop(c.Stop))
	}
	switch c.ToolChoice {
	case "":
	case retake.NoTool:
		opts = append(opts, model.WithToolChoice(einoschema.ToolChoiceForbidden))
	case retake.AnyTool:
		opts = append(opts, model.WithToolChoice(einoschema.ToolChoiceForced))
	default:
		opts = append(opts, model.WithToolChoice(einoschema.ToolChoiceForced, c.ToolChoice.Tool()))
	}
	return opts
}

// judge passes the outcome of a model call to the core. next are the next messages, if the model is asked
// again.
func (who *speaker) judge(
	ctx context.Context, in []*einoschema.Message, out *einoschema.Message, cause error,
) (next []*einoschema.Message, again bool, err error) {
	if cause = fault.Bounded(cause); errors.Is(cause, errTogether) {
		return nil, false, cause // the other one's turn goes on
	}
	run, err := who.a.run(ctx)
	if err != nil {
		return nil, false, err
	}
	if passed(cause) {
		return nil, false, cause
	}
	verdict, err := run.judge(ctx, out, cause)
	due := 0
	if err == nil && !verdict.Again && out != nil {
		due = len(out.ToolCalls)
	}
	run.spoke(due)
	if err != nil || !verdict.Again {
		return nil, false, err
	}
	return append(slices.Clip(in), sayAgain(verdict.Said, out)...), true, nil
}

// shouldRetry is Eino's hook for every reply and every error.
func (who *speaker) shouldRetry(ctx context.Context, rc *adk.RetryContext) *adk.RetryDecision {
	next, again, err := who.judge(ctx, rc.InputMessages, rc.OutputMessage, rc.Err)
	if err != nil || !again {
		return &adk.RetryDecision{RewriteError: err}
	}
	d := &adk.RetryDecision{Retry: true}
	if len(next) > len(rc.InputMessages) {
		d.ModifiedInputMessages, d.PersistModifiedInputMessages = next, true
	}
	return d
}
