package adk_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/policy"
)

func booker(t *testing.T, m model.LLM) agent.Agent {
	made, err := llmagent.New(llmagent.Config{Name: "booker", Description: "Books rooms.", Model: m, Tools: []adktool.Tool{bookRoom(t, nil)}})
	require.NoError(t, err)
	return made
}

func delegate() turn {
	return calls(call("booker", map[string]any{"request": "Two nights in Lisbon."}))
}

// An agent that is a tool of another is corrected and recorded in a run of its own.
func TestAnAgentAsAToolHasARunOfItsOwn(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	inner := newFake(calls(call("book_room", map[string]any{"city": "Lisbon"})), calls(call("book_room", lisbon())), say("Booked inside."))
	sub, err := a.AgentTool(booker(t, a.Model(inner)), nil)
	require.NoError(t, err)
	m := newFake(delegate(), say("Done."))
	text, err := play(t.Context(), newRunner(t, a, m, sub), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "Done.", text)
	assert.Equal(t, map[string]any{"result": "Booked inside."}, answers(m.requests()[1])[0].Response)
	assert.Contains(t, answers(inner.requests()[1])[0].Response["error"], "nights: required")
	require.Len(t, end.results, 2, "the inner run ends first")
	assert.Equal(t, []string{"book_room", "book_room", ""}, actions(end.results[0].Attempts))
	assert.Equal(t, []string{"booker", ""}, actions(end.results[1].Attempts))
	assert.Equal(t, "booker", end.at[0].AppName)
	assert.Regexp(t, "^"+end.at[1].SessionID+"/adk-[0-9a-f-]+$", end.at[0].SessionID, "the outer session and ADK's id of the call")
}

// An agent that is a tool is given the media of the user's message only if its tool is made so.
func TestAnAgentAsAToolIsGivenMedia(t *testing.T) {
	picture := genai.NewPartFromBytes([]byte("\x89PNG"), "image/png")
	said := genai.NewContentFromParts([]*genai.Part{genai.NewPartFromText("Book this room:"), picture}, genai.RoleUser)
	for name, c := range map[string]struct {
		cfg  *adk.AgentToolConfig
		want []*genai.Part
	}{
		"passed on": {&adk.AgentToolConfig{PassMedia: true}, []*genai.Part{genai.NewPartFromText("Two nights in Lisbon."), picture}},
		"left out":  {nil, []*genai.Part{genai.NewPartFromText("Two nights in Lisbon.")}},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, _ := newAdapter(t, adk.Config{})
			inner := newFake(say("Booked inside."))
			sub, err := a.AgentTool(booker(t, a.Model(inner)), c.cfg)
			require.NoError(t, err)
			for _, err := range newRunner(t, a, newFake(delegate(), say("Done.")), sub).Run(t.Context(), "user", "session", said, agent.RunConfig{}) {
				require.NoError(t, err)
			}
			assert.Equal(t, c.want, inner.requests()[0][0].Parts)
		})
	}
}

// ADK's own agent tool leaves the plugins behind. That is said at once, instead of running without
// protection.
func TestAnAgentToolWithoutProtectionIsRefused(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	inner := newFake(say("never"))
	m := newFake(delegate(), say("never"))
	_, err := play(t.Context(), newRunner(t, a, m, agenttool.New(booker(t, a.Model(inner)), nil)), agent.StreamingModeNone)
	require.ErrorContains(t, err, `retake: tool "booker": ADK runs this agent without plugins, so that it would not be watched; make the tool with Adapter.AgentTool`)
	assert.Empty(t, m.requests())
	assert.Len(t, end.errs, 1)

	_, err = play(t.Context(), runnerOf(t, nil, booker(t, a.Model(inner))), agent.StreamingModeNone)
	require.ErrorIs(t, err, adk.ErrNoRun, "a runner without the plugin")
	assert.Empty(t, inner.requests())

	_, err = a.AgentTool(nil, nil)
	require.EqualError(t, err, "retake: the agent is nil")
}

// agents is a toolset of an agent tool.
type agents []adktool.Tool

func (a agents) Name() string                                        { return "agents" }
func (a agents) Tools(agent.ReadonlyContext) ([]adktool.Tool, error) { return a, nil }

// An agent tool is found within the tool that confirms its calls, too.
func TestAnAgentToolWithoutProtectionIsRefusedWithinOthers(t *testing.T) {
	a, _, _ := newAdapter(t, adk.Config{})
	inner, m := newFake(say("never")), newFake(delegate(), say("never"))
	confirmed := adktool.WithConfirmation(agents{agenttool.New(booker(t, inner), nil)}, true, nil)
	top, err := llmagent.New(llmagent.Config{Name: "traveller", Model: a.Model(m), Toolsets: []adktool.Toolset{confirmed}})
	require.NoError(t, err)
	p, err := a.Plugin()
	require.NoError(t, err)
	_, err = play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, top), agent.StreamingModeNone)
	require.ErrorContains(t, err, `retake: tool "booker": ADK runs this agent without plugins`)
	assert.Empty(t, m.requests())
	assert.Empty(t, inner.requests())
}

// Agents to which ADK delegates by itself are watched: one of a single turn has a run of its own, a task and
// the agent around it take turns.
func TestDelegatedAgentsAreWatched(t *testing.T) {
	args := map[string]any{"request": "Two nights in Lisbon."}
	inside := []string{"book_room", "book_room"}
	for mode, c := range map[llmagent.Mode]struct {
		done  turn
		outer []string
	}{
		llmagent.ModeSingleTurn: {say("Booked inside."), []string{"booker", "flyer", ""}},
		llmagent.ModeTask: {calls(call("finish_task", map[string]any{"result": "Booked inside."})), slices.Concat([]string{"booker", "flyer"}, inside,
			[]string{"finish_task"}, inside, []string{"finish_task", ""})},
	} {
		t.Run(string(mode), func(t *testing.T) {
			a, _, end := newAdapter(t, adk.Config{})
			var subs []agent.Agent
			for _, name := range []string{"booker", "flyer"} {
				inner := newFake(calls(call("book_room", map[string]any{"city": "Lisbon"})), calls(call("book_room", lisbon())), c.done)
				sub, err := llmagent.New(llmagent.Config{
					Name: name, Description: "Books.", Mode: mode, Model: a.Model(inner), Tools: []adktool.Tool{bookRoom(t, nil)},
				})
				require.NoError(t, err)
				subs = append(subs, sub)
			}
			m := newFake(calls(call("booker", args), call("flyer", args)), say("Done."))
			top, err := llmagent.New(llmagent.Config{Name: "traveller", Model: a.Model(m), SubAgents: subs})
			require.NoError(t, err)
			p, err := a.Plugin()
			require.NoError(t, err)
			text, err := play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, top), agent.StreamingModeNone)
			require.NoError(t, err)
			assert.Equal(t, "Done.", text)
			require.NotEmpty(t, end.results)
			assert.Equal(t, c.outer, actions(end.results[0].Attempts))
			for n, r := range end.results[1:] {
				require.NoError(t, end.errs[n+1])
				assert.Equal(t, append(slices.Clone(inside), ""), actions(r.Attempts))
			}
			if mode == llmagent.ModeSingleTurn {
				assert.Len(t, end.results, 3)
			}
		})
	}
}

// What the replies that were not accepted cost is in the usage of the reply that was.
func TestTheUsageOfAReplyHasAllOfItsTries(t *testing.T) {
	a, _, _ := newAdapter(t, adk.Config{})
	empty := say("")
	empty.resp.UsageMetadata = calls().resp.UsageMetadata
	good := say("Booked.")
	good.resp.UsageMetadata = calls().resp.UsageMetadata
	var seen []int32
	for ev, err := range newRunner(t, a, newFake(empty, good)).Run(t.Context(), "user", "session", hello(), agent.RunConfig{}) {
		require.NoError(t, err)
		if u := ev.LLMResponse.UsageMetadata; u != nil {
			seen = append(seen, u.PromptTokenCount, u.CandidatesTokenCount, u.ThoughtsTokenCount)
		}
	}
	assert.Equal(t, []int32{20, 10, 4}, seen)
}

func TestAnObserverIsToldOfARun(t *testing.T) {
	var log bytes.Buffer
	to := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, _, _ := newAdapter(t, adk.Config{}, adk.WithObserver(observe.LogTo(to)))
	m := newFake(calls(call("book_room", nil)), turn{err: overloaded}, calls(call("book_room", lisbon())), say("Booked."))
	_, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, 4, strings.Count(log.String(), `msg="model call ended"`))
	assert.Equal(t, 1, strings.Count(log.String(), `msg="tool ended"`))
	assert.Contains(t, log.String(), "error_type=tool_validation")
	assert.Regexp(t, `level=INFO msg="run ended".* turns=3.* duration=[34]\.`, log.String())
	_, err = adk.New(adk.Config{}, adk.WithObserver(nil))
	require.ErrorContains(t, err, "WithObserver: the observer is nil")
}

// asking is a tracer that keeps the model calls.
type asking struct {
	began []observe.Work
	ended []observe.WorkEnd
}

func (*asking) Observe(context.Context, observe.Notice) {}

func (l *asking) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	if w.Kind != observe.WorkModel {
		return ctx, nil
	}
	l.began = append(l.began, w)
	return ctx, func(e observe.WorkEnd) { l.ended = append(l.ended, e) }
}

// A tracer is told the model of ADK's request, the class by which the run decides, and the provider's own
// word for the end of a reply.
func TestATracerIsToldOfModelCalls(t *testing.T) {
	var l asking
	set := policy.DefaultSet()
	set.Global.PerAttempt = []policy.Settings{{}, {Model: "big"}}
	a, _, _ := newAdapter(t, adk.Config{Policy: &set}, adk.WithObserver(&l), adk.WithClassifier(func(err error) fault.Failure {
		return fault.Failure{Class: fault.Overloaded}
	}))
	_, err := play(t.Context(), newRunner(t, a, newFake(turn{err: errScript}, say(""), say("Booked."))), agent.StreamingModeNone)
	require.NoError(t, err)
	require.Len(t, l.began, 3)
	assert.Equal(t, []string{"fake", "fake", ""}, []string{l.began[0].Info.Name, l.began[1].Info.Name, l.began[2].Info.Name})
	assert.Equal(t, "big", l.began[2].Model)
	require.Len(t, l.ended, 3)
	assert.Equal(t, fault.Overloaded, l.ended[0].Class)
	assert.ErrorIs(t, l.ended[0].Err, errScript)
	assert.Equal(t, "STOP", l.ended[2].Source.Finish)
}
