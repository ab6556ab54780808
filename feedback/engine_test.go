package feedback_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/feedback"
)

func TestWithoutAnEngineATextIsAsItIs(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"plain":      {text: "You book rooms.\n"},
		"braces":     {text: "{ } }} { {"},
		"action":     {"a\nb {{attempt}}", "prompt template, line 2: {{ begins an action, and no engine for templates is given: set Templates to feedback.GoTemplates()"},
		"half":       {"{{", "prompt template, line 1: {{ begins an action"},
		"too_long":   {strings.Repeat("a", 64<<10+1), "prompt template: the text must be at most 65536 bytes, is 65537"},
		"as_long_as": {text: strings.Repeat("a", 64<<10)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := feedback.ParseBy(nil, c.text)
			if c.want != "" {
				var ours *feedback.TemplateError
				require.ErrorAs(t, err, &ours)
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.text, parsed.String())
			text, err := parsed.Render(secondAttempt())
			require.NoError(t, err)
			assert.Equal(t, c.text, text)
		})
	}
}

func TestAnEngineReadsActions(t *testing.T) {
	parsed, err := feedback.ParseBy(feedback.GoTemplates(), "Attempt {{attempt}}.")
	require.NoError(t, err)
	text, err := parsed.Render(secondAttempt())
	require.NoError(t, err)
	assert.Equal(t, "Attempt 2.", text)
	parsed, err = feedback.ParseBy(feedback.GoTemplates(), `Write {{"{{"}}name}}.`)
	require.NoError(t, err)
	text, err = parsed.Render(secondAttempt())
	require.NoError(t, err)
	assert.Equal(t, "Write {{name}}.", text)
	_, err = feedback.ParseBy(feedback.GoTemplates(), "{{")
	require.ErrorContains(t, err, "prompt template, line 1: not a valid action")
}

// A text without actions is read without the library. An action that gives nothing makes the library read the
// same text.
func TestPlainTextIsWhatTheLibraryMakesOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := strings.ReplaceAll(rapid.StringOfN(rapid.SampledFrom([]rune("a{}\n\\\"`é-")), 0, 40, -1).Draw(t, "text"), "{{", "{-")
		lim := feedback.TemplateLimits{MaxText: 1 << 10, MaxBytes: rapid.IntRange(1, 60).Draw(t, "bytes"), MaxWork: rapid.IntRange(99, 101).Draw(t, "work")}
		ours, err := feedback.ParseLimited(plain, lim)
		require.NoError(t, err)
		theirs, err := feedback.ParseLimited(`{{""}}`+plain, lim)
		require.NoError(t, err)
		got, gotErr := ours.Render(firstAttempt())
		want, wantErr := theirs.Render(firstAttempt())
		require.Equal(t, want, got)
		require.Equal(t, wantErr == nil, gotErr == nil)
		cut := feedback.Limits{MaxIssues: 1, MaxBytes: lim.MaxBytes / 2}
		gotCut, gotErr := feedback.RenderWith(ours, booking(1, nil, nightsIssue), cut)
		wantCut, wantErr := feedback.RenderWith(theirs, booking(1, nil, nightsIssue), cut)
		require.Equal(t, wantCut, gotCut)
		require.Equal(t, wantErr == nil, gotErr == nil)
	})
}
