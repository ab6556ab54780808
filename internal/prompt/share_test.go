package prompt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/prompt"
)

// item is feedback on a call of a tool with as many issues.
func item(tool string, issues int) prompt.Item {
	in := feedback.Input{Tool: tool, Attempt: 1, MaxAttempts: 3, Class: fault.ToolValidation}
	for range issues {
		in.Issues = append(in.Issues, fault.Issue{Pointer: "/" + strings.Repeat("m", len(in.Issues)+1), Rule: "required",
			Source: fault.FromSchema})
	}
	f := feedback.New(in)
	return prompt.Item{Feedback: &f}
}

func again(i prompt.Item) prompt.Item {
	i.Again = true
	return i
}

func TestFeedbackOnSeveralCallsSharesTheLimits(t *testing.T) {
	a, b := item("a", 2), item("b", 2)
	whole := func(i prompt.Item) string {
		return feedback.Render(*i.Feedback, feedback.Limits{MaxIssues: 1000, MaxBytes: 1 << 20})
	}
	long := item("long", 40)
	both := len(whole(a)) + len(whole(long))
	within := func(i prompt.Item, issues, bytes int) string {
		return feedback.Render(*i.Feedback, feedback.Limits{MaxIssues: issues, MaxBytes: bytes})
	}
	for _, tt := range []struct {
		name  string
		items []prompt.Item
		lim   feedback.Limits
		want  []string
		used  int // issues
	}{
		{"nothing", nil, feedback.DefaultLimits(), []string{}, 0},
		{"all_fit", []prompt.Item{a, b}, feedback.DefaultLimits(), []string{whole(a), whole(b)}, 4},
		{"none_is_emitted", []prompt.Item{{}, b}, feedback.DefaultLimits(), []string{prompt.Withheld, whole(b)}, 2},
		{"none_is_emitted_and_no_room", []prompt.Item{{}}, feedback.Limits{}, []string{prompt.Withheld}, 0},
		{"no_room_is_left", []prompt.Item{a}, feedback.Limits{MaxIssues: -1, MaxBytes: -300}, []string{prompt.NoRoom}, 2},
		{"one_has_more_than_its_part", []prompt.Item{a, long}, feedback.Limits{MaxIssues: 42, MaxBytes: both},
			[]string{whole(a), whole(long)}, 42},
		{"a_byte_too_many", []prompt.Item{long, a}, feedback.Limits{MaxIssues: 42, MaxBytes: both - 1},
			[]string{within(long, 21, (both-1)/2), whole(a)}, 42},
		{"an_issue_too_many", []prompt.Item{a, long}, feedback.Limits{MaxIssues: 41, MaxBytes: 4096}, []string{whole(a), within(long, 20, 2048)}, 42},
		{"the_least_room", []prompt.Item{b}, feedback.Limits{MaxIssues: 1, MaxBytes: 256}, []string{within(b, 1, 256)}, 2},
		{"too_few_bytes", []prompt.Item{b}, feedback.Limits{MaxIssues: 5, MaxBytes: 255}, []string{prompt.NoRoom}, 2},
		{"each_tool_comes_first", []prompt.Item{a, again(a), b}, feedback.Limits{MaxIssues: 4, MaxBytes: 1100}, []string{whole(a), prompt.NoRoom, whole(b)}, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			texts, used, err := prompt.RenderAll(tt.items, tt.lim, nil)
			require.NoError(t, err)
			assert.Equal(t, tt.want, texts)
			assert.Equal(t, tt.used, used.MaxIssues)
		})
	}
}

var errTemplate = errors.New("no such field")

func TestATemplateThatFailsLeavesTheDefaultWords(t *testing.T) {
	a := item("a", 1)
	failing := func(feedback.RetryFeedback, feedback.Limits) (string, error) { return "", errTemplate }
	texts, _, err := prompt.RenderAll([]prompt.Item{a, a}, feedback.DefaultLimits(), failing)
	require.ErrorIs(t, err, errTemplate)
	assert.Equal(t, feedback.Render(*a.Feedback, feedback.DefaultLimits()), texts[1])
	plain, err := prompt.Parse("Again, please.", nil)
	require.NoError(t, err)
	texts, _, err = prompt.RenderAll([]prompt.Item{a}, feedback.DefaultLimits(), plain.Words)
	require.NoError(t, err)
	assert.Equal(t, []string{"Again, please."}, texts)
}

// Together the texts keep the limit, but for the short one of calls without room; if one
// tool is told, no call of another stands back behind a second of its own.
func TestSharedFeedbackKeepsTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lim := feedback.Limits{MaxIssues: rapid.IntRange(1, 40).Draw(t, "issues"), MaxBytes: rapid.IntRange(300, 6000).Draw(t, "bytes")}
		var items []prompt.Item
		seen := map[string]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			tool := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tool")
			i := item(tool, rapid.IntRange(0, 12).Draw(t, "wrong"))
			i.Again = seen[tool]
			items, seen[tool] = append(items, i), true
		}
		texts, used, err := prompt.RenderAll(items, lim, nil)
		require.NoError(t, err)
		require.Len(t, texts, len(items))
		bytes, all, firstUntold := 0, 0, false
		for n, text := range texts {
			all += len(text)
			if text != prompt.NoRoom {
				bytes += len(text)
			} else if !items[n].Again {
				firstUntold = true
			}
		}
		require.LessOrEqual(t, bytes, lim.MaxBytes)
		require.Equal(t, all, used.MaxBytes)
		for n, text := range texts {
			require.False(t, firstUntold && items[n].Again && text != prompt.NoRoom && len(items) > 1)
		}
	})
}
