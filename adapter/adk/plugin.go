package adk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	adktool "google.golang.org/adk/v2/tool"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
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

// take removes the runs of an invocation and returns them in order of branch. The caller has the lock.
func (a *Adapter) take(invocation string) []*run {
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
	r, err := a.begin(invocationOf(ctx), deadline)
	if err != nil {
		return nil, err
	}
	return nil, r.next(ctx, req)
}

func invocationOf(ctx agent.Context) Invocation {
	return Invocation{
		ID: ctx.InvocationID(), Branch: ctx.Branch(), AppName: ctx.AppName(), UserID: ctx.UserID(),
		SessionID: ctx.SessionID(),
	}
}

func (r *run) next(ctx context.Context, req *model.LLMRequest) error {
	all, err := offered(req)
	if err == nil {
		err = protected(req)
	}
	if err != nil {
		return err
	}
	req.Contents = answered(req.Contents)
	turns.Declare(all, r.cfg.ReadOnly, r.cfg.Idempotent)
	tools, err := r.offered.Set(all)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.unwatched = streaming(req)
	r.mu.Unlock()
	r.of.Describe(machine.ModelInfo{Name: req.Model})
	return r.of.Next(ctx, tools, func() []message { return saidBefore(req.Contents) })
}

// afterModel passes a reply to the core, if the model's wrapper has not, and notes the ids that ADK gave
// its calls.
func (a *Adapter) afterModel(
	ctx agent.Context, resp *model.LLMResponse, err error,
) (*model.LLMResponse, error) {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil || err != nil || resp == nil || resp.Partial {
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
	r := a.resume(invocationOf(ctx))
	if r == nil {
		return nil, nil
	}
	c := r.claim(ctx.FunctionCallID(), t.Name(), args)
	if c == nil {
		return nil, nil
	}
	c.Wait(ctx)
	if text, refused, _ := c.Refused(); refused {
		if c.Failed() {
			return response(text), nil
		}
		return map[string]any{"result": text}, nil
	}
	r.mu.Lock()
	r.calls = append(r.calls, begunCall{c, ctx.FunctionCallID(), t.Name(), argumentsOf(args)})
	r.mu.Unlock()
	_ = c.Begins(ctx) // ADK passes no context on
	return nil, nil
}

// claim finds the call in the current reply; nil for a call that an earlier invocation continues.
func (r *run) claim(id, name string, args map[string]any) *turns.Call {
	c, _ := r.of.Claim(id, name, argumentsOf(args))
	return c
}

// begunCall is a call that ADK has begun. Models may give two calls one id.
type begunCall struct {
	*turns.Call
	id, name, arguments string
}

// begun removes and returns the call that ADK has begun; nil if it is over or not watched.
func (a *Adapter) begun(ctx agent.Context, t adktool.Tool, args map[string]any) *turns.Call {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := func(c begunCall) bool { return c.id == ctx.FunctionCallID() }
	at := slices.IndexFunc(r.calls, func(c begunCall) bool {
		return of(c) && c.name == t.Name() && c.arguments == argumentsOf(args)
	})
	if at < 0 {
		at = slices.IndexFunc(r.calls, of) // a callback has changed the arguments
	}
	if at < 0 {
		return nil
	}
	c := r.calls[at].Call
	r.calls = slices.Delete(r.calls, at, at+1)
	return c
}

// afterTool passes the outcome of a call to the core, after the callbacks of the agent have seen its error.
// It repeats the call if the core decides so, and answers in place of a result that a reducer refuses.
func (a *Adapter) afterTool(
	ctx agent.Context, t adktool.Tool, args, result map[string]any, err error,
) (map[string]any, error) {
	err = fault.Bounded(err)
	c := a.begun(ctx, t, args)
	switch {
	case c == nil:
		return nil, nil
	case waits(ctx, err):
		c.Leave()
		return nil, nil
	case errors.Is(err, adktool.ErrConfirmationRejected): // ADK says so to the model
		c.Deny(ctx)
		return nil, nil
	}
	out, first := outcome(t.Name(), result, err), true
	for {
		answer, _ := c.End(ctx, out)
		switch again, ok := t.(runnable); {
		case answer.Own && first:
			return nil, nil
		case answer.Own:
			return result, nil
		case !answer.Again || !ok:
			return response(answer.Text + wordsOf(out)), nil
		default:
			_ = c.Begins(ctx)
			result, err = again.Run(ctx, args)
			out, first = outcome(t.Name(), result, err), false
		}
	}
}

// waits reports whether a call waits for the user's confirmation: that of its config, or one that its tool
// has asked for.
func waits(ctx agent.Context, err error) bool {
	if errors.Is(err, adktool.ErrConfirmationRequired) {
		return true
	}
	actions := ctx.Actions()
	if err != nil || actions == nil {
		return false
	}
	_, asked := actions.RequestedToolConfirmations[ctx.FunctionCallID()]
	return asked
}

// onToolError answers a call of an unknown tool. Other errors are left to the callbacks of the agent, and
// then to afterTool.
func (a *Adapter) onToolError(
	ctx agent.Context, t adktool.Tool, args map[string]any, _ error,
) (map[string]any, error) {
	r := a.find(ctx.InvocationID(), ctx.Branch())
	if r == nil || r.has(ctx.FunctionCallID()) {
		return nil, nil
	}
	return r.unknownTool(ctx, t, args)
}

// has reports whether ADK has begun a call under an id.
func (r *run) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.calls, func(c begunCall) bool { return c.id == id })
}

// maxWords bounds what the model reads of a tool's error, in bytes.
const maxWords = 1024

// wordsOf returns the words of a tool's error, as ADK would show them: quoted, and without secrets. A panic
// has no words for a model.
func wordsOf(out tool.Outcome) string {
	_, later := out.Later()
	_, panicked := out.Err.(*fault.PanicError)
	if out.Err == nil || later || panicked {
		return ""
	}
	return " The tool says: " + feedback.InMarks(fault.Scrub(out.Err.Error()), maxWords)
}

// runnable is a tool that can be run, in the form that ADK itself uses.
type runnable interface {
	Run(ctx agent.Context, args any) (map[string]any, error)
}

// unknownTool answers a call of a tool that ADK does not have.
func (r *run) unknownTool(
	ctx agent.Context, t adktool.Tool, args map[string]any,
) (map[string]any, error) {
	c := r.claim(ctx.FunctionCallID(), t.Name(), args)
	if c == nil {
		return nil, nil
	}
	text, refused, _ := c.Refused()
	if refused {
		return response(text), nil
	}
	// The model was offered this tool, and ADK cannot run it.
	none := fault.Issue{Rule: fault.RuleUnknownTool, Expected: "a tool that can be run",
		Source: fault.FromTool}
	answer, _ := c.End(ctx, tool.Outcome{Issues: []fault.Issue{none}})
	return response(answer.Text), nil
}

// outcome converts what a tool returned.
func outcome(name string, result map[string]any, err error) tool.Outcome {
	if err != nil {
		return tool.Ended(name, panicOf(name, err))
	}
	doc, err := engine.Marshal(result)
	if err != nil {
		return tool.Outcome{Err: err}
	}
	return tool.Outcome{Result: doc}
}

// panicOf returns the panic of a tool that ADK has contained, with the stack for operators. ADK has it as the
// text of an error alone. Any other error stays as it is.
func panicOf(name string, err error) error {
	said, is := strings.CutPrefix(err.Error(), fmt.Sprintf("panic in tool %q: ", name))
	at := strings.LastIndex(said, "\nstack: ")
	if !is || at < 0 {
		return err
	}
	return &fault.PanicError{Tool: name, Value: said[:at], Stack: said[at+len("\nstack: "):]}
}
