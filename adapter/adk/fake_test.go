package adk_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	adksession "google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// turn is one entry of a fake model's script.
type turn struct {
	resp *model.LLMResponse
	err  error
}

func say(text string) turn {
	return turn{resp: &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), FinishReason: genai.FinishReasonStop}}
}

func calls(all ...*genai.FunctionCall) turn {
	c := &genai.Content{Role: genai.RoleModel}
	for _, call := range all {
		c.Parts = append(c.Parts, &genai.Part{FunctionCall: call})
	}
	return turn{resp: &model.LLMResponse{Content: c, FinishReason: genai.FinishReasonStop,
		UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, CandidatesTokenCount: 5, ThoughtsTokenCount: 2}}}
}

func call(name string, args map[string]any) *genai.FunctionCall {
	return &genai.FunctionCall{Name: name, Args: args}
}

// fakeModel replies from a script. If streamed, the text of a reply comes in two pieces and then as a
// whole.
type fakeModel struct {
	mu     sync.Mutex
	script []turn
	asked  [][]*genai.Content
	// whole are the complete requests.
	whole []*model.LLMRequest
}

func newFake(script ...turn) *fakeModel { return &fakeModel{script: script} }

var errScript = errors.New("the script is over")

func (m *fakeModel) Name() string { return "fake" }

func (m *fakeModel) next(req *model.LLMRequest) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole = append(m.whole, req)
	m.asked = append(m.asked, append([]*genai.Content(nil), req.Contents...))
	if len(m.script) == 0 {
		return turn{err: errScript}
	}
	t := m.script[0]
	m.script = m.script[1:]
	return t
}

func (m *fakeModel) GenerateContent(_ context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		t := m.next(req)
		if t.resp != nil && stream && t.resp.Content != nil {
			piece := *t.resp
			piece.Partial, piece.Content = true, genai.NewContentFromText("…", genai.RoleModel)
			if !yield(&piece, nil) {
				return
			}
		}
		if t.err != nil {
			yield(nil, t.err)
			return
		}
		if t.resp != nil {
			yield(t.resp, nil)
		}
	}
}

func (m *fakeModel) requests() [][]*genai.Content {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

type booking struct {
	City   string `json:"city"`
	Nights int    `json:"nights"`
}

type receipt struct {
	Booked string `json:"booked"`
}

// bookRoom is a tool as users of ADK write it.
func bookRoom(t testing.TB, fn func(agent.Context, booking) (receipt, error)) adktool.Tool {
	t.Helper()
	if fn == nil {
		fn = func(_ agent.Context, b booking) (receipt, error) { return receipt{b.City}, nil }
	}
	made, err := functiontool.New(functiontool.Config{Name: "book_room", Description: "Book a hotel room."}, fn)
	require.NoError(t, err)
	return made
}

func lisbon() map[string]any { return map[string]any{"city": "Lisbon", "nights": 2} }

// ending has the ends of runs.
type ending struct {
	mu      sync.Mutex
	at      []adk.Invocation
	s       []*session.Session
	results []loop.Result
	errs    []error
}

func (e *ending) note(i adk.Invocation, s *session.Session, r loop.Result, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at, e.s, e.results, e.errs = append(e.at, i), append(e.s, s), append(e.results, r), append(e.errs, err)
}

func newAdapter(t testing.TB, cfg adk.Config, opts ...adk.Option) (*adk.Adapter, *looptest.Clock, *ending) {
	t.Helper()
	clock, end := looptest.NewClock(), &ending{}
	a, err := adk.New(cfg, append([]adk.Option{adk.WithClock(clock), adk.WithEnd(end.note)}, opts...)...)
	require.NoError(t, err)
	return a, clock, end
}

// newRunner runs one agent, with a unless it is nil.
func newRunner(t testing.TB, a *adk.Adapter, m model.LLM, tools ...adktool.Tool) *runner.Runner {
	t.Helper()
	var plugins []*plugin.Plugin
	if a != nil {
		p, err := a.Plugin()
		require.NoError(t, err)
		plugins, m = []*plugin.Plugin{p}, a.Model(m)
	}
	return runnerOf(t, plugins, llmAgent(t, m, tools...))
}

func llmAgent(t testing.TB, m model.LLM, tools ...adktool.Tool) agent.Agent {
	t.Helper()
	made, err := llmagent.New(llmagent.Config{Name: "traveller", Description: "Books rooms.", Model: m, Tools: tools})
	require.NoError(t, err)
	return made
}

func runnerOf(t testing.TB, plugins []*plugin.Plugin, root agent.Agent) *runner.Runner {
	t.Helper()
	r, err := runner.New(runner.Config{
		AppName: "trips", Agent: root, SessionService: adksession.InMemoryService(), AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	require.NoError(t, err)
	return r
}

func hello() *genai.Content {
	return genai.NewContentFromText("Two nights in Lisbon, please.", genai.RoleUser)
}

// play sends one message and returns the last complete text and the error.
func play(ctx context.Context, r *runner.Runner, mode agent.StreamingMode) (text string, err error) {
	for ev, failed := range r.Run(ctx, "user", "session", hello(), agent.RunConfig{StreamingMode: mode}) {
		if failed != nil {
			err = failed
			continue
		}
		if ev.LLMResponse.Content != nil && !ev.LLMResponse.Partial && ev.LLMResponse.Content.Role == genai.RoleModel {
			text = ""
			for _, p := range ev.LLMResponse.Content.Parts {
				text += p.Text
			}
		}
	}
	return text, err
}

// answers are the function responses at the end of a request.
func answers(request []*genai.Content) []*genai.FunctionResponse {
	var all []*genai.FunctionResponse
	for _, p := range request[len(request)-1].Parts {
		if p.FunctionResponse != nil {
			all = append(all, p.FunctionResponse)
		}
	}
	return all
}

func exhaustedIn(t testing.TB, err error) *loop.RetryExhaustedError {
	t.Helper()
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	return exhausted
}

func actions(attempts []session.Attempt) []string {
	var names []string
	for _, a := range attempts {
		names = append(names, a.Action)
	}
	return names
}
