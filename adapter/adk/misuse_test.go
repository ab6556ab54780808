package adk_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func TestAFaultyConfigIsRefusedWithAllItsFields(t *testing.T) {
	set := policy.DefaultSet()
	set.MaxTurns = 0
	_, err := adk.New(adk.Config{Policy: &set, OnExhausted: "shout", Feedback: "{{"})
	require.Error(t, err)
	for _, want := range []string{"on_exhausted: \"shout\"", "max_turns", "feedback"} {
		assert.ErrorContains(t, err, want)
	}
}

func TestAnOptionThatIsNilIsNamed(t *testing.T) {
	_, err := adk.New(adk.Config{}, adk.WithClock(nil), nil)
	require.EqualError(t, err, "retake: option 2 is nil; leave it out")
}

func TestASessionThatCannotBeHadEndsTheRun(t *testing.T) {
	gone := errors.New("gone")
	a, _, end := newAdapter(t, adk.Config{}, adk.WithSessions(func(adk.Invocation) (*session.Session, error) { return nil, gone }))
	_, err := play(t.Context(), newRunner(t, a, newFake(say("never")), bookRoom(t, nil)), agent.StreamingModeNone)
	require.ErrorIs(t, err, gone)
	assert.Empty(t, end.results)
}

func TestAConversationGoesOnInItsSession(t *testing.T) {
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	a, _, end := newAdapter(t, adk.Config{}, adk.WithSessions(func(adk.Invocation) (*session.Session, error) { return s, nil }))
	r := newRunner(t, a, newFake(calls(call("book_room", nil)), say("One."), calls(call("book_room", nil)), say("Two.")), bookRoom(t, nil))
	for n, want := range []string{"One.", "Two."} {
		text, err := play(t.Context(), r, agent.StreamingModeNone)
		require.NoError(t, err)
		assert.Equal(t, want, text)
		assert.Len(t, end.results[n].Attempts, 2)
	}
	assert.Equal(t, 4, s.State().AttemptCount())
}

// declared is a tool with a schema of genai's own type.
type declared struct{ schema *genai.Schema }

func (*declared) Name() string        { return "book_room" }
func (*declared) Description() string { return "Book." }
func (*declared) IsLongRunning() bool { return false }

func (d *declared) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: "book_room", Description: "Book.", Parameters: d.schema}
}

func (d *declared) ProcessRequest(_ agent.Context, req *model.LLMRequest) error {
	return toolutils.PackTool(req, d)
}

func (*declared) Run(agent.Context, any) (map[string]any, error) {
	return map[string]any{"ok": true}, nil
}

func TestSchemasOfGenaiAreCheckedToo(t *testing.T) {
	most, yes := int64(2), true
	text, whole := &genai.Schema{Type: genai.TypeString}, &genai.Schema{Type: genai.TypeInteger, Maximum: genai.Ptr(30.0)}
	tool := &declared{&genai.Schema{Type: genai.TypeObject, Required: []string{"city"}, Properties: map[string]*genai.Schema{
		"city": text, "nights": whole, "room": {Type: genai.TypeString, Enum: []string{"single", "double"}, Nullable: &yes},
		"guests": {Type: genai.TypeArray, Items: text, MaxItems: &most}, "when": {AnyOf: []*genai.Schema{text, whole}},
	}}}
	for _, c := range []struct {
		args map[string]any
		told string
	}{
		{map[string]any{"city": "Lisbon", "nights": 2, "room": nil, "guests": []any{"Ada"}, "when": 3}, ""},
		{map[string]any{"nights": 2}, "city: required"},
		{map[string]any{"city": "Lisbon", "nights": 31}, "nights: "},
		{map[string]any{"city": "Lisbon", "room": "suite"}, "room: "},
		{map[string]any{"city": "Lisbon", "guests": []any{"Ada", "Grace", "Joan"}}, "guests: "},
		{map[string]any{"city": "Lisbon", "when": true}, "when: "},
	} {
		a, _, _ := newAdapter(t, adk.Config{})
		m := newFake(calls(call("book_room", c.args)), say("Done."))
		_, err := play(t.Context(), newRunner(t, a, m, adktool.Tool(tool)), agent.StreamingModeNone)
		require.NoError(t, err)
		given := answers(m.requests()[1])[0].Response
		if c.told == "" {
			assert.Equal(t, map[string]any{"ok": true}, given)
			continue
		}
		assert.Contains(t, given["error"], c.told)
	}
}
