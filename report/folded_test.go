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
	assert.Contains(t, show(t, "html", []byte(text)), "Folded: 2 turns, 5 prompts, 2 policies.")
	assert.Equal(t, []string{
		"keys ?",
		"Turns 5",
		"5 model calls, 4 tool runs, 1 failed tool run, 4 accepted attempts, 4 failed attempts, 1 transport fault, 3,248 tokens in, 80 out, 2,048 read from cache, 2,496 tokens of failed attempts.",
		"+0s 1 hear, fall, fly: unknown tool, age: expected at most 130, 1 more; again at once 832 tokens lost tool validation",
		"prompt",
		"+0s 2 hear, fall: age: expected at most 130; again at once 832 tokens lost tool validation",
		"prompt, with answers of hear, fall, fly",
		"hear Ada, 36 c1 fits",
		"+0s 3 hear, fall: fall broke: tool execution; no more 832 tokens lost tool execution",
		"prompt, with answers of hear, fall",
		"hear Ada, 36 c1 fits",
		"fall Ada, 36 c2 fits",
		"+0s 4 hear Ada, 36 accept",
		"prompt, with answers of hear, fall",
		"hear Ada, 36 c1 fits",
		"+0s 5 answer accept",
		"prompt, with answers of hear",
		"config and policies",
	}, folded(show(t, "html", []byte(text))))

	ran := strings.LastIndex(text, `"kind":"run_tools"`)
	require.Positive(t, ran)
	cut := ran + strings.Index(text[ran:], "\n") + 1
	assert.Contains(t, folded(show(t, "html", []byte(text[:cut]))), "+0s 4 hear Ada, 36 running hear")
}
