package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

var (
	plan  = message.Bytes(message.ImagePart, "image/png", []byte("a plan"))
	photo = message.Link(message.ImagePart, "https://example.com/room.jpg")
)

func showRoom(t *testing.T) *tool.Set {
	tools, err := tool.NewSet(tool.New("show_room", "Show a room.", func(ctx context.Context, _ struct{}) (string, error) {
		return "Room 7.", tool.Attach(ctx, photo)
	}))
	require.NoError(t, err)
	return tools
}

func TestMediaGoWithThePromptAndWithResults(t *testing.T) {
	for name, c := range map[string]struct {
		asks looptest.Turn
		role message.Role
	}{
		"native":  {looptest.Call(call("show_room", `{}`)), message.Tool},
		"in text": {looptest.Say(`<tool_call>{"name":"show_room","arguments":{}}</tool_call>`), message.User},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
			require.NoError(t, err)
			model := looptest.NewModel(c.asks, looptest.Say("It is large."))
			cfg := loop.Config{Tools: showRoom(t)}
			result, err := fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Where is the room?", Attach: []message.Part{plan}}, cfg)
			require.NoError(t, err)
			first := result.Transcript[0]
			assert.Equal(t, []message.Part{plan}, first.Parts)
			shown := model.Requests()[1].Last()
			assert.Equal(t, c.role, shown.Role)
			assert.Equal(t, []message.Part{photo}, shown.Parts)

			past, err := j.Past()
			require.NoError(t, err)
			assert.Equal(t, result.Transcript[0:3], past.State.Transcript()[0:3], "nothing is lost in the journal")
			require.NoError(t, j.Close())
		})
	}
}

func TestMediaThatCannotBeAreRefused(t *testing.T) {
	for want, p := range map[string]message.Part{
		`attach[0].kind: must be text, image, audio or file, got "video"`:                 {Kind: "video"},
		"attach[0].kind: a text part needs Text, and neither URL nor Data":                {Kind: message.TextPart},
		"attach[0].text: only a text part may have Text: remove it from the image":        {Kind: message.ImagePart, Text: "x"},
		"attach[0].data: the file needs either URL or Data":                               {Kind: message.FilePart},
		"attach[0].media_type: the bytes of the audio need one, such as image/png":        {Kind: message.AudioPart, Data: "AAAA"},
		"attach[0].data: not base64: make the part with Bytes":                            {Kind: message.AudioPart, Data: "?", MediaType: "audio/wav"},
		"attach[0].text: the part has bytes that are not UTF-8: make a medium with Bytes": {Kind: message.TextPart, Text: "\xff"},
	} {
		assert.EqualError(t, (&loop.Input{Attach: []message.Part{p}}).Validate(), want)
	}
	assert.ErrorIs(t, tool.Attach(t.Context(), photo), tool.ErrNotInCall)
	assert.Equal(t, "[image, image/png, 6 bytes]", plan.String())
	assert.Equal(t, "[image, https://example.com/room.jpg]", photo.String())
}
