package adk

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	adktool "google.golang.org/adk/v2/tool"

	"github.com/retake-go/retake/adapter/internal/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/tool"
)

// Name is the plugin's name in a runner.
const Name = "retake"

// Plugin returns the plugin for runner.PluginConfig. Put it first: it does not see what an earlier plugin
// answers. It replaces retryandreflect.
func (a *Adapter) Plugin() (*plugin.Plugin, error) {
	return plugin.New(plugin.Config{
		Name:                 Name,
		AfterRunCallback:     func(ctx agent.InvocationContext) { a.finish(ctx.InvocationID()) },
		BeforeModelCallback:  a.beforeModel,
		AfterModelCallback:   a.afterModel,
		OnModelErrorCallback: a.onModelError,
		BeforeToolCallback:   a.beforeTool,
		AfterToolCallback:    a.afterTool,
		OnToolErrorCallback:  a.onToolError,
	})
}

// take removes the runs of an invocation and returns them in order of branch.
func (a *Adapter) take(invocation string) []*run {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []*run
	for key, r := range a.runs {
		if key.invocation == invocation {
			all = append(all, r)
			delete(a.runs, key)
		}
	}
	slices.SortFunc(all, func(x, y *run) int { return strings.Compare(x.at.Branch, y.at.Branch) })
	return all
}

// beforeModel waits before a model call as the core demands, and ends ADK's run if retake's has ended.
func (a *Adapter) beforeModel(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	deadline, _ := ctx.Deadline()
	r, err := a.begin(Invocation{
		ID: ctx.InvocationID(), Branch: ctx.Branch(), AppName: ctx.AppName(), UserID: ctx.UserID(),
		SessionID: ctx.SessionID(),
	}, deadline)
	if err != nil {
		return nil, err
	}
	return nil, r.next(ctx, req)
}

func (r *run) next(ctx context.Context, req *model.LLMRequest) error {
	all, err := offered(req)
	if err != nil {
		return err
	}
	turns.Declare(all, r.cfg.ReadOnly, r.cfg.Idempotent)
	tools, err := r.offered.Set(all)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.unwatched = streaming(req)
	r.mu.Unlock()
	return r.of.Next(ctx, tools, func() []message { return saidBefore(req.Contents) })
}

// afterModel passes a reply to the core, if the model's wrapper has not, and notes the ids that ADK gave
// its calls.
func (a *Adapter) afterModel(
	ctx agent.Context, resp *model.LLMResponse, err error,
) (*model.LLMResponse, error) {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil || err != nil || resp == nil || resp.Partial || thinking(resp) {
		return nil, nil
	}
	if !r.of.Replied() {
		if _, err := r.of.Reply(ctx, reply(resp)); err != nil {
			return nil, err
		}
	}
	var ids []string
	for _, c := range functionCalls(resp.Content) {
		ids = append(ids, c.ID)
	}
	r.of.Name(ids)
	r.leaveUnwatched(ctx, resp)
	return nil, nil
}

// onModelError records an error that the model's wrapper has not seen. It cannot ask the model again.
func (a *Adapter) onModelError(
	ctx agent.Context, _ *model.LLMRequest, err error,
) (*model.LLMResponse, error) {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil || r.of.Replied() {
		return nil, nil
	}
	_, stop := r.of.Failed(ctx, err)
	return nil, stop
}

// response is the answer to a failed call, in the form that Gemini reads as a failure.
func response(text string) map[string]any { return map[string]any{"error": text} }

// beforeTool answers a call that may not run.
func (a *Adapter) beforeTool(ctx agent.Context, t adktool.Tool, args map[string]any) (map[string]any, error) {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil {
		return nil, nil
	}
	c := r.claim(ctx.FunctionCallID(), t.Name(), args)
	if c == nil {
		return nil, nil
	}
	if text, refused, _ := c.Refused(); refused {
		return response(text), nil
	}
	r.mu.Lock()
	r.calls[ctx.FunctionCallID()] = c
	r.mu.Unlock()
	return nil, nil
}

// claim finds the call in the current reply; nil for a call that an earlier invocation continues.
func (r *run) claim(id, name string, args map[string]any) *turns.Call {
	c, _ := r.of.Claim(id, name, argumentsOf(args))
	return c
}

// begun removes and returns the call that ADK has begun under an id; nil if it is over or not watched.
func (a *Adapter) begun(ctx agent.Context) *turns.Call {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.calls[ctx.FunctionCallID()]
	delete(r.calls, ctx.FunctionCallID())
	return c
}

// afterTool passes a result to the core. If a reducer refuses it, afterTool answers in its place.
func (a *Adapter) afterTool(
	ctx agent.Context, _ adktool.Tool, _, result map[string]any, err error,
) (map[string]any, error) {
	c := a.begun(ctx)
	if c == nil || err != nil {
		return nil, nil
	}
	answer, _ := c.End(ctx, done(result))
	if answer.Own {
		return nil, nil
	}
	return response(answer.Text), nil
}

// onToolError passes an error of a tool to the core, or a call of an unknown tool, and repeats the call if
// the core decides so.
func (a *Adapter) onToolError(
	ctx agent.Context, t adktool.Tool, args map[string]any, err error,
) (map[string]any, error) {
	c := a.begun(ctx)
	if c == nil {
		return a.unknownTool(ctx, t, args)
	}
	if errors.Is(err, adktool.ErrConfirmationRequired) || errors.Is(err, adktool.ErrConfirmationRejected) {
		c.Leave()
		return nil, nil
	}
	out, result := tool.Ended(t.Name(), err), map[string]any(nil)
	for {
		answer, _ := c.End(ctx, out)
		switch again, ok := t.(runnable); {
		case answer.Own:
			return result, nil
		case !answer.Again || !ok:
			return response(answer.Text), nil
		default:
			out, result = try(ctx, t.Name(), again, args)
		}
	}
}

// runnable is a tool that can be run, in the form that ADK itself uses.
type runnable interface {
	Run(ctx agent.Context, args any) (map[string]any, error)
}

func try(ctx agent.Context, name string, t runnable, args map[string]any) (tool.Outcome, map[string]any) {
	result, err := t.Run(ctx, args)
	if err != nil {
		return tool.Ended(name, err), nil
	}
	return done(result), result
}

// unknownTool answers a call of a tool that ADK does not have.
func (a *Adapter) unknownTool(
	ctx agent.Context, t adktool.Tool, args map[string]any,
) (map[string]any, error) {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil {
		return nil, nil
	}
	c := r.claim(ctx.FunctionCallID(), t.Name(), args)
	if c == nil {
		return nil, nil
	}
	text, refused, _ := c.Refused()
	if refused {
		return response(text), nil
	}
	// The model was offered this tool, or one whose name reads the same, and ADK cannot run it.
	none := fault.Issue{Rule: fault.RuleUnknownTool, Expected: "a tool that can be run",
		Source: fault.FromTool}
	answer, _ := c.End(ctx, tool.Outcome{Issues: []fault.Issue{none}})
	return response(answer.Text), nil
}

// done converts a result to an outcome.
func done(result map[string]any) tool.Outcome {
	doc, err := json.Marshal(result)
	if err != nil {
		return tool.Outcome{Err: err}
	}
	return tool.Outcome{Result: doc}
}
