package report_test

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
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// A run with an image in its prompt, a repaired call whose tool gives a recording, and a tool that panics.
func TestMediaRepairsAndPanicsAreTold(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	set, err := tool.NewSet(
		tool.New("hear", "Records a guest.", func(ctx context.Context, _ guest) (string, error) {
			return "recorded", tool.Attach(ctx, message.Bytes(message.AudioPart, "audio/wav", make([]byte, 40)))
		}),
		tool.New("fall", "Falls over.", func(context.Context, guest) (string, error) { panic("nobody is at the desk") }),
	)
	require.NoError(t, err)
	pol := policy.DefaultSet()
	pol.Global.NativeRepairs = policy.RepairsNote
	cfg := loop.Config{Tools: set, Policy: &pol}
	model := looptest.NewModel(
		calls(message.Call{Name: "hear", Arguments: `{"name": "Ada", "age": 36,}`}, message.Call{Name: "fall", Arguments: `{"name": "Bob", "age": 3}`}),
		looptest.Say("Sorry."))
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Who is this?", Attach: []message.Part{message.Bytes(message.ImagePart, "image/png", make([]byte, 67))}}, cfg, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text := store.Text("order-42")

	timeline := show(t, "text", text)
	for _, says := range []string{
		"start     the user says: Who is this? [image, image/png, 67 bytes]\n",
		"hear repaired: trailing_comma\n",
		"tool      hear: result of 10 bytes, [audio, audio/wav, 40 bytes]\n",
		"tool      fall broke: tool_execution\n",
		"tool \"fall\" panicked: nobody is at the desk\n",
		" 2 tool runs, 1 failed tool run,",
	} {
		assert.Contains(t, timeline, says)
	}
	page := show(t, "html", text)
	for _, says := range []string{
		"Who is this?\n[image, image/png, 67 bytes]</pre>", `<p class="note">repaired: trailing_comma</p>`,
		"[audio, audio/wav, 40 bytes]", "panicked: nobody is at the desk",
	} {
		assert.Contains(t, page, says)
	}
	assert.Contains(t, show(t, "json", text), `"failed_tool_runs":1,`)
}

// The answer of a run is shown whole, whatever word it begins with.
func TestAnAnswerKeepsItsFirstWord(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("stop: the tap drips")), fixture.In(newSession(t), j), loop.Input{Prompt: "What now?"}, loop.Config{}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	assert.Contains(t, show(t, "text", store.Text("order-42")), "done      stop: the tap drips\n")
}

// The box with the end of a run has no names of the record in it.
func TestTheEndOfARunIsInPlainWords(t *testing.T) {
	page := show(t, "html", told(t, "{}", "Ada", look(300), look(300), look(300)))
	assert.Contains(t, page, "look attempt 3 of 3: tool validation, age: expected at most 130 (attempts used up)")
}
