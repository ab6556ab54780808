package report_test

import (
	"context"
	"html"
	"regexp"
	"strings"
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
	summaries = regexp.MustCompile(`(?s)<summary>(.*?)</summary>`)
	tags      = regexp.MustCompile(`<[^>]*>`)
)

// folded returns the texts of a page that can be read while all is folded.
func folded(page string) (texts []string) {
	for _, found := range summaries.FindAllStringSubmatch(page, -1) {
		texts = append(texts, html.UnescapeString(strings.Join(strings.Fields(tags.ReplaceAllString(found[1], " ")), " ")))
	}
	return texts
}

// Of two tools that are in play at once, each row names those that it is about without being opened.
func TestFoldedRowsNameTheirTools(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	set, err := tool.NewSet(
		tool.New("hear", "Records a guest.", func(context.Context, guest) (string, error) { return "recorded", nil }),
		tool.New("fall", "Falls over.", func(context.Context, guest) (string, error) { panic("nobody is at the desk") }),
	)
	require.NoError(t, err)
	ada, old := `{"name": "Ada", "age": 36}`, `{"name": "Bob", "age": 300}`
	model := looptest.NewModel(
		calls(message.Call{Name: "hear", Arguments: old}, message.Call{Name: "fall", Arguments: old}, message.Call{Name: "fly", Arguments: ada}),
		calls(message.Call{Name: "hear", Arguments: ada}, message.Call{Name: "fall", Arguments: old}),
		calls(message.Call{Name: "hear", Arguments: ada}, message.Call{Name: "fall", Arguments: ada}),
		calls(message.Call{Name: "hear", Arguments: ada}),
		looptest.Say("Sorry."))
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Who is this?"}, loop.Config{Tools: set}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())

	text := string(store.Text("order-42"))
	assert.Equal(t, []string{
		"what the run was held to",
		"+0s Call 1: attempt 1 of 3 tool_validation hear, fall; unknown_tool fly",
		"prompt",
		"+0s Call 2: hear attempt 2 of 3, fall attempt 2 of 3, fly attempt 2 of 3 tool_validation fall",
		"prompt, with answers of hear, fall, fly",
		"fall changed since attempt 1",
		"hear changed since attempt 1",
		"+0s Call 3: fall attempt 3 of 3 tool_execution fall",
		"prompt, with answers of hear, fall",
		"+0s Call 4: fall attempt 3 of 3 accept hear",
		"prompt, with answers of hear, fall",
		"+0s Call 5: fall attempt 3 of 3 accept",
		"prompt, with answers of hear",
		"the policy as the run began: answer",
		"the policy as the run began: transport",
	}, folded(show(t, "html", []byte(text))))

	ran := strings.LastIndex(text, `"kind":"run_tools"`)
	require.Positive(t, ran)
	cut := ran + strings.Index(text[ran:], "\n") + 1
	assert.Contains(t, folded(show(t, "html", []byte(text[:cut]))), "+0s Call 4: fall attempt 3 of 3 running hear")
}
