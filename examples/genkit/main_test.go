package main

import (
	"context"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

// A struct without a name, as in Trip, has a schema with the schema library that Genkit needs, too.
func TestAFlowIsCorrected(t *testing.T) {
	g := genkit.Init(t.Context())
	script, failed := scripted(), false
	var last *ai.ModelRequest
	model := genkit.DefineModel(g, "test/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{
		Multiturn: true, Tools: true, SystemRole: true, Constrained: ai.ConstrainedSupportAll,
	}}, func(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		if last = req; !failed { // a failed request costs the model no attempt
			failed = true
			return nil, &fault.ProviderError{Class: fault.Overloaded}
		}
		return script(ctx, req, stream)
	})
	flow, err := tripFlow(g, model, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	trip, err := flow.Run(t.Context(), "Two nights in Lisbon, please.")
	require.NoError(t, err)
	assert.Equal(t, "Lisbon", trip.City)
	assert.Equal(t, 2, trip.Stay.Nights)

	assert.Equal(t, "You book rooms.", last.Messages[0].Text())
	assert.Contains(t, last.Messages[len(last.Messages)-1].Text(), "your answer is not the JSON value that was asked for (attempt 1 of 3)")
	refused := last.Messages[3].Content[0].ToolResponse
	assert.Equal(t, "c1", refused.Ref)
	assert.Contains(t, refused.Output, "nights: expected integer (at least 1, at most 30), got string")
	assert.Equal(t, "book_room", last.Tools[0].Name)
	assert.Contains(t, last.Output.Schema["properties"], "stay")
	assert.Nil(t, last.Config)
}

func TestSettingsAreSentOrRefused(t *testing.T) {
	ask := loop.Request{Messages: []message.Message{{Role: message.User, Text: "Where?"}}, Temperature: new(0.0), Stop: []string{"END"}, MaxOutputTokens: 20}
	assert.Equal(t, map[string]any{"temperature": 0.0, "stopSequences": []string{"END"}, "maxOutputTokens": int64(20)}, config(ask))
	_, err := modelOf{}.Reply(t.Context(), loop.Request{ToolChoice: message.ToolChoice("book_room")})
	require.ErrorContains(t, err, "not supported")
	ask.Messages[0].Parts = []message.Part{message.Bytes(message.ImagePart, "image/png", []byte("png"))}
	_, err = modelOf{}.Reply(t.Context(), ask)
	require.ErrorContains(t, err, "texts only")
}
