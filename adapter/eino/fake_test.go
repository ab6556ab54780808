package eino_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// turn is one entry of a fake model's script.
type turn struct {
	msg *schema.Message
	err error
	// broken makes a stream break off after the message.
	broken error
}

func say(text string) turn {
	return turn{msg: &schema.Message{Role: schema.Assistant, Content: text, ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}}}
}

func calls(all ...schema.ToolCall) turn {
	for n := range all {
		all[n].Index = &n
	}
	return turn{msg: &schema.Message{Role: schema.Assistant, ToolCalls: all, ResponseMeta: &schema.ResponseMeta{
		FinishReason: "tool_calls", Usage: &schema.TokenUsage{PromptTokens: 10, CompletionTokens: 5, CompletionTokensDetails: schema.CompletionTokensDetails{ReasoningTokens: 2}},
	}}}
}

func toolCall(id, name, arguments string) schema.ToolCall {
	return schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: name, Arguments: arguments}}
}

// fakeModel replies from a script.
type fakeModel struct {
	mu     *sync.Mutex
	script *[]turn
	asked  *[][]*schema.Message
	// options are the options of each call.
	options *[]model.Options
}

func newFake(script ...turn) *fakeModel {
	return &fakeModel{mu: &sync.Mutex{}, script: &script, asked: &[][]*schema.Message{}, options: &[]model.Options{}}
}

var errScript = errors.New("the script is over")

func (m *fakeModel) next(in []*schema.Message, opts []model.Option) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.options = append(*m.options, *model.GetCommonOptions(nil, opts...))
	*m.asked = append(*m.asked, append([]*schema.Message(nil), in...))
	if len(*m.script) == 0 {
		return turn{err: errScript}
	}
	t := (*m.script)[0]
	*m.script = (*m.script)[1:]
	return t
}

func (m *fakeModel) requests() [][]*schema.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.asked
}

func (m *fakeModel) Generate(_ context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	t := m.next(in, opts)
	if t.broken != nil {
		return nil, t.broken
	}
	return t.msg, t.err
}

func (m *fakeModel) Stream(_ context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	t := m.next(in, opts)
	if t.err != nil {
		return nil, t.err
	}
	r, w := schema.Pipe[*schema.Message](2)
	w.Send(t.msg, nil)
	if t.broken != nil {
		w.Send(nil, t.broken)
	}
	w.Close()
	return r, nil
}

func (m *fakeModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

type booking struct {
	City   string `json:"city" jsonschema:"required"`
	Nights int    `json:"nights" jsonschema:"required"`
}

type receipt struct {
	Booked string `json:"booked"`
}

// bookRoom is a tool as users of Eino write it.
func bookRoom(t testing.TB, fn func(context.Context, booking) (receipt, error)) tool.BaseTool {
	t.Helper()
	if fn == nil {
		fn = func(_ context.Context, b booking) (receipt, error) { return receipt{b.City}, nil }
	}
	made, err := utils.InferTool("book_room", "Book a hotel room.", fn)
	require.NoError(t, err)
	return made
}

func agentConfig(m model.ToolCallingChatModel, tools ...tool.BaseTool) *adk.ChatModelAgentConfig {
	return &adk.ChatModelAgentConfig{
		Name: "traveller", Description: "Books rooms.", Model: m,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
	}
}

// play runs an agent on one message and returns its last text and error.
func play(ctx context.Context, t testing.TB, conf *adk.ChatModelAgentConfig, stream bool) (string, error) {
	t.Helper()
	agent, err := adk.NewChatModelAgent(ctx, conf)
	require.NoError(t, err)
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: stream}).Query(ctx, "Two nights in Lisbon, please.")
	text := ""
	var failed error
	for {
		ev, ok := events.Next()
		if !ok {
			return text, failed
		}
		if ev.Err != nil {
			failed = ev.Err
			continue
		}
		if ev.Output == nil || ev.Output.MessageOutput == nil {
			continue
		}
		msg, err := ev.Output.MessageOutput.GetMessage()
		var again *adk.WillRetryError
		if errors.As(err, &again) {
			continue
		}
		require.NoError(t, err)
		if msg.Role == schema.Assistant {
			text = msg.Content
		}
	}
}

func newSession(t testing.TB, id string) *session.Session {
	t.Helper()
	s, err := session.New(session.Config{ID: id})
	require.NoError(t, err)
	return s
}

func newAdapter(t testing.TB, cfg eino.Config, opts ...eino.Option) (*eino.Adapter, *looptest.Clock) {
	t.Helper()
	clock := looptest.NewClock()
	a, err := eino.New(cfg, append([]eino.Option{eino.WithClock(clock)}, opts...)...)
	require.NoError(t, err)
	return a, clock
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
