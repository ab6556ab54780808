package adk_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/loop/machine"
	retake "github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// The settings of an attempt, a forced call and stop sequences are in ADK's requests.
func TestTheRequestHasWhatTheRunAsksFor(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.PerAttempt = []policy.Settings{{}, {Temperature: new(0.25), Model: "big"}}
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			a, _, _ := newAdapter(t, adk.Config{Policy: &set, ToolChoice: "book_room", Stop: []string{"END"}})
			m := newFake(calls(call("book_room", map[string]any{"city": 5})), calls(call("book_room", lisbon())), say("Booked."))
			_, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), mode)
			require.NoError(t, err)
			require.Len(t, m.whole, 3)
			assert.Nil(t, m.whole[0].Config.Temperature)
			assert.Equal(t, new(float32(0.25)), m.whole[1].Config.Temperature, "the second attempt")
			assert.Equal(t, []string{"fake", "big", "fake"}, []string{m.whole[0].Model, m.whole[1].Model, m.whole[2].Model})
			for _, req := range m.whole[:2] {
				assert.Equal(t, &genai.FunctionCallingConfig{
					Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{"book_room"},
				}, req.Config.ToolConfig.FunctionCallingConfig)
			}
			assert.Nil(t, m.whole[2].Config.ToolConfig, "a call has ended")
			for _, req := range m.whole {
				assert.Equal(t, []string{"END"}, req.Config.StopSequences)
			}
		})
	}
}

// What is left of a budget of tokens bounds the reply under way, unless the agent's own bound is lower.
func TestABudgetBoundsTheReply(t *testing.T) {
	set := policy.DefaultSet()
	set.Spending.Run.OutputTokens = new(int64(100))
	for _, c := range []struct {
		known int64
		own   int32
		asked []int32
		why   string
	}{
		{8192, 0, []int32{100, 93}, "a reply took 7"},
		{8192, 95, []int32{95, 93}, "the agent's bound is lower at first"},
		{0, 95, []int32{95, 95}, "how long replies can be is not known"},
	} {
		a, _, _ := newAdapter(t, adk.Config{Policy: &set, Models: map[string]machine.ModelInfo{"": {MaxOutputTokens: c.known}}})
		m := newFake(calls(call("book_room", lisbon())), say("Booked."))
		agentOf, err := llmagent.New(llmagent.Config{Name: "traveller", Model: a.Model(m), Tools: []adktool.Tool{bookRoom(t, nil)},
			GenerateContentConfig: &genai.GenerateContentConfig{MaxOutputTokens: c.own}})
		require.NoError(t, err)
		p, err := a.Plugin()
		require.NoError(t, err)
		_, err = play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, agentOf), agent.StreamingModeNone)
		require.NoError(t, err)
		require.Len(t, m.whole, 2)
		assert.Equal(t, c.asked, []int32{m.whole[0].Config.MaxOutputTokens, m.whole[1].Config.MaxOutputTokens}, c.why)
	}
}

func TestAChoiceIsForcedOnlyWhereItCanBe(t *testing.T) {
	none := &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}}
	for choice, want := range map[retake.ToolChoice]*genai.ToolConfig{retake.AnyTool: nil, "book_room": nil, retake.NoTool: none} {
		a, _, _ := newAdapter(t, adk.Config{ToolChoice: choice})
		m := newFake(say("Hi."))
		_, err := play(t.Context(), newRunner(t, a, m), agent.StreamingModeNone)
		require.NoError(t, err)
		assert.Equal(t, want, m.whole[0].Config.ToolConfig, choice)
	}
	assert.ErrorContains(t, adk.Config{Stop: []string{""}}.Validate(), "stop[0]: is empty")
}

// The session's conversation has the user's media.
func TestMediaAreInTheConversation(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	m := newFake(say("Nice."))
	r := newRunner(t, a, m)
	msg := genai.NewContentFromParts([]*genai.Part{
		{Text: "Look: "}, {InlineData: &genai.Blob{Data: []byte("png"), MIMEType: "image/png"}}, {Text: "and"},
		{FileData: &genai.FileData{FileURI: "gs://b/tour.mp4", MIMEType: "video/mp4"}}, {InlineData: &genai.Blob{MIMEType: "audio/wav"}},
	}, genai.RoleUser)
	for _, err := range r.Run(t.Context(), "user", "session", msg, agent.RunConfig{}) {
		require.NoError(t, err)
	}
	said := end.results[0].Transcript[0]
	assert.Equal(t, "Look: ", said.Text)
	assert.Equal(t, []retake.Part{
		retake.Bytes(retake.ImagePart, "image/png", []byte("png")), {Kind: retake.TextPart, Text: "and"},
		{Kind: retake.FilePart, MediaType: "video/mp4", URL: "gs://b/tour.mp4"}, {Kind: retake.TextPart, Text: "[audio/wav]"},
	}, said.Parts)
}
