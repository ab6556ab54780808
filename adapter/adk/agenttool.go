package adk

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// AgentToolConfig configures a tool of [Adapter.AgentTool]. In the zero value the agent gets the text of the
// request and nothing else, as with ADK's own agent tool.
type AgentToolConfig struct {
	// PassMedia gives the agent the media of the user's message, behind the text of the request. Its model
	// must take them.
	PassMedia bool
}

// AgentTool makes a tool of an agent, which takes a request and returns the agent's last text. Unlike that of
// ADK's package agenttool, the agent runs with the adapter's plugin: it has a run and a session of its own,
// and is corrected and recorded as the agent around it. Wrap its model with [Adapter.Model], too. Nobody
// confirms the calls of its tools: one that wants a confirmation fails the call of the agent. It begins with
// a copy of the outer session's state. Its [Invocation].SessionID is that of the outer session and the id of
// the call, so that [WithSessions] finds the same session when the call is made again. A nil cfg is the zero
// value.
func (a *Adapter) AgentTool(sub agent.Agent, cfg *AgentToolConfig) (adktool.Tool, error) {
	if sub == nil {
		return nil, errors.New("retake: the agent is nil")
	}
	p, err := a.Plugin()
	if err != nil {
		return nil, err
	}
	return functiontool.New(functiontool.Config{Name: sub.Name(), Description: sub.Description()},
		func(ctx agent.Context, in request) (answer, error) {
			msg := genai.NewContentFromText(in.Request, genai.RoleUser)
			if cfg != nil && cfg.PassMedia {
				msg.Parts = append(msg.Parts, mediaOf(ctx.UserContent())...)
			}
			return a.runAgent(ctx, p, sub, msg)
		})
}

type request struct {
	Request string `json:"request"`
}

type answer struct {
	Result string `json:"result"`
}

func (a *Adapter) runAgent(
	ctx agent.Context, p *plugin.Plugin, sub agent.Agent, msg *genai.Content,
) (answer, error) {
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{
		AppName: sub.Name(), Agent: sub, SessionService: sessions,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{p}},
	})
	if err != nil {
		return answer{}, err
	}
	state := map[string]any{}
	for name, value := range ctx.State().All() {
		if !strings.HasPrefix(name, "_adk") { // ADK's own
			state[name] = value
		}
	}
	made, err := sessions.Create(ctx, &session.CreateRequest{AppName: sub.Name(), UserID: ctx.UserID(),
		State: state, SessionID: ctx.SessionID() + "/" + ctx.FunctionCallID()})
	if err != nil {
		return answer{}, err
	}
	defer a.abandon(sub.Name(), ctx.UserID(), made.Session.ID())
	var last *genai.Content
	for ev, err := range r.Run(ctx, ctx.UserID(), made.Session.ID(), msg, agent.RunConfig{}) {
		switch {
		case err != nil:
			return answer{}, err
		case ev.ErrorCode != "" || ev.ErrorMessage != "":
			return answer{}, fmt.Errorf("agent %s: %s %s", sub.Name(), ev.ErrorCode, ev.ErrorMessage)
		case len(ev.Actions.RequestedToolConfirmations) > 0:
			return answer{}, fmt.Errorf("agent %s: a call waits for a confirmation, and nobody confirms "+
				"calls of an agent that is a tool: let the tool of the agent itself want it", sub.Name())
		case ev.LLMResponse.Content != nil && !ev.LLMResponse.Partial:
			last = ev.LLMResponse.Content
		}
	}
	return answer{Result: textOf(last)}, nil
}

// unprotected is the type of ADK's own agent tools.
var unprotected = reflect.TypeOf(agenttool.New(nil, nil))

// protected returns an error for a tool whose agent ADK runs without plugins.
func protected(req *model.LLMRequest) error {
	for _, name := range slices.Sorted(maps.Keys(req.Tools)) {
		if isUnprotected(reflect.ValueOf(req.Tools[name])) {
			return fmt.Errorf("retake: tool %q: ADK runs this agent without plugins, so that it would not "+
				"be watched; make the tool with Adapter.AgentTool", name)
		}
	}
	return nil
}

// isUnprotected reports whether a tool is one of ADK's own agent tools, or embeds one: as the tool does that
// asks for a confirmation first.
func isUnprotected(t reflect.Value) bool {
	if t.Kind() == reflect.Interface {
		t = t.Elem()
	}
	if !t.IsValid() || t.Type() == unprotected {
		return t.IsValid()
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for n := range t.NumField() {
		if t.Type().Field(n).Anonymous && isUnprotected(t.Field(n)) {
			return true
		}
	}
	return false
}
