package eino_test

import (
	"context"
	"testing"

	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/loop/machine"
	retake "github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// The settings of an attempt, a forced call and stop sequences are in Eino's requests, in every way.
func TestTheRequestHasWhatTheRunAsksFor(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.PerAttempt = []policy.Settings{{}, {Temperature: new(0.25), Model: "big"}}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			a, _ := newAdapter(t, eino.Config{Policy: &set, ToolChoice: "book_room", Stop: []string{"END"}})
			m := newFake(calls(toolCall("c1", "book_room", `{"city":5}`)), calls(toolCall("c2", "book_room", goodArgs)), say("Booked."))
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = way.play(ctx, t, a, m, bookRoom(t, nil))
			require.NoError(t, err)
			_, err = run.End()
			require.NoError(t, err)

			asked := *m.options
			require.Len(t, asked, 3)
			assert.Nil(t, asked[0].Temperature)
			assert.Equal(t, new(float32(0.25)), asked[1].Temperature, "the second attempt")
			assert.Equal(t, new("big"), asked[1].Model)
			for _, o := range asked[:2] {
				assert.Equal(t, new(schema.ToolChoiceForced), o.ToolChoice)
				assert.Equal(t, []string{"book_room"}, o.AllowedToolNames)
			}
			assert.NotEqual(t, new(schema.ToolChoiceForced), asked[2].ToolChoice, "a call has ended")
			for _, o := range asked {
				assert.Equal(t, []string{"END"}, o.Stop)
			}
		})
	}
}

// What is left of a budget of tokens bounds the reply under way, where it is known how long replies can be.
func TestABudgetBoundsTheReply(t *testing.T) {
	set := policy.DefaultSet()
	set.Spending.Run.OutputTokens = new(int64(100))
	for known, want := range map[int64][]*int{8192: {new(100), new(95)}, 0: {nil, nil}} {
		for _, way := range ways {
			a, _ := newAdapter(t, eino.Config{Policy: &set, Models: map[string]machine.ModelInfo{"": {MaxOutputTokens: known}}})
			m := newFake(calls(toolCall("c1", "book_room", goodArgs)), say("Booked."))
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = way.play(ctx, t, a, m, bookRoom(t, nil))
			require.NoError(t, err)
			_, err = run.End()
			require.NoError(t, err)
			asked := *m.options
			require.Len(t, asked, 2)
			assert.Equal(t, want, []*int{asked[0].MaxTokens, asked[1].MaxTokens}, way.name)
		}
	}
}

func TestAChoiceIsForcedOnlyWhereItCanBe(t *testing.T) {
	for choice, want := range map[retake.ToolChoice]*schema.ToolChoice{
		retake.AnyTool: nil, "book_room": nil, retake.NoTool: new(schema.ToolChoiceForbidden),
	} {
		a, _ := newAdapter(t, eino.Config{ToolChoice: choice})
		m := newFake(say("Hi."))
		ctx, _, err := a.Start(t.Context(), nil)
		require.NoError(t, err)
		_, err = a.Model(m).Generate(ctx, []*schema.Message{schema.UserMessage("Hi.")})
		require.NoError(t, err)
		assert.Equal(t, want, (*m.options)[0].ToolChoice, choice)
	}
	assert.ErrorContains(t, eino.Config{Stop: []string{""}}.Validate(), "stop[0]: is empty")
}

func imageOf(data string) *schema.MessageInputImage {
	return &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}}
}

// The session's conversation has the media of the user and of results.
func TestMediaAreInTheConversation(t *testing.T) {
	link := "https://rooms.example/tour.mp4"
	png := retake.Bytes(retake.ImagePart, "image/png", []byte("png"))
	drawMap, err := utils.InferEnhancedTool("book_room", "Book.", func(context.Context, booking) (*schema.ToolResult, error) {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{
			{Type: schema.ToolPartTypeText, Text: "Booked."},
			{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: imageOf("cG5n").MessagePartCommon}},
		}}, nil
	})
	require.NoError(t, err)
	a, _ := newAdapter(t, eino.Config{})
	s := newSession(t, "order-42")
	ctx, run, err := a.Start(t.Context(), s)
	require.NoError(t, err)
	m := newFake(calls(toolCall("c1", "book_room", goodArgs)), say("Booked."))
	_, err = reactAgent(ctx, t, a, m, []einotool.BaseTool{drawMap}).Generate(ctx, []*schema.Message{{
		Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
			{Type: schema.ChatMessagePartTypeText, Text: "Book this"},
			{Type: schema.ChatMessagePartTypeText, Text: "room."},
			{Type: schema.ChatMessagePartTypeImageURL, Image: imageOf("cG5n")},
			{Type: schema.ChatMessagePartTypeVideoURL, Video: &schema.MessageInputVideo{MessagePartCommon: schema.MessagePartCommon{URL: &link}}},
			{Type: schema.ChatMessagePartTypeAudioURL, Audio: &schema.MessageInputAudio{}},
		},
	}})
	require.NoError(t, err)
	result, err := run.End()
	require.NoError(t, err)

	said := result.Transcript
	assert.Equal(t, "Book this\nroom.", said[0].Text)
	assert.Equal(t, []retake.Part{png, {Kind: retake.TextPart, Text: "[video_url]"}, {Kind: retake.TextPart, Text: "[audio]"}}, said[0].Parts)
	answer := said[2]
	assert.Equal(t, "Booked.", answer.Text)
	assert.Equal(t, []retake.Part{png}, answer.Parts)
	assert.Equal(t, "cG5n", *last(m.requests()[1]).UserInputMultiContent[1].Image.Base64Data, "Eino shows the model its own result")
}
