package feedback_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

func issue(pointer, rule string, source fault.Source) fault.Issue {
	return fault.Issue{Pointer: pointer, Rule: rule, Source: source}
}

func TestDiff(t *testing.T) {
	type issues = []fault.Issue
	nightsNow := nightsIssue
	nightsNow.Got = fault.Null
	name := issue("/guest/name", "required", fault.FromSchema)
	guest := issue("/guest", "type", fault.FromSchema)
	low := issue("/nights", "minimum", fault.FromSchema)
	rule := issue("/nights", "eqfield", fault.FromRules)
	syntax := issue("", fault.RuleSyntax, fault.FromJSON)
	ask := issue("/nights", "sold_out", fault.FromTool)
	cases := map[string]struct {
		before, now issues
		class       fault.Class
		want        feedback.Diff
	}{
		"one_fixed_one_new":          {issues{nightsIssue, roomIssue}, issues{nightsIssue, enumIssue}, "", feedback.Diff{Fixed: issues{roomIssue}, New: issues{enumIssue}, Persistent: issues{nightsIssue}}},
		"persistent_has_todays_kind": {issues{nightsIssue}, issues{nightsNow}, "", feedback.Diff{Persistent: issues{nightsNow}}},
		"nothing_known":              {nil, issues{roomIssue}, "", feedback.Diff{New: issues{roomIssue}}},
		"type_then_minimum":          {issues{nightsIssue}, issues{low}, "", feedback.Diff{Fixed: issues{nightsIssue}, New: issues{low}}},
		"minimum_hidden_by_type":     {issues{low}, issues{nightsIssue}, "", feedback.Diff{New: issues{nightsIssue}}},
		"member_hidden_by_its_owner": {issues{name}, issues{guest}, "", feedback.Diff{New: issues{guest}}},
		"owner_right_member_wrong":   {issues{guest}, issues{name}, "", feedback.Diff{Fixed: issues{guest}, New: issues{name}}},
		"no_json_any_more":           {issues{nightsIssue, roomIssue}, issues{syntax}, "", feedback.Diff{New: issues{syntax}}},
		"json_at_last":               {issues{syntax}, issues{roomIssue}, "", feedback.Diff{Fixed: issues{syntax}, New: issues{roomIssue}}},
		"rules_not_reached":          {issues{rule}, issues{roomIssue}, "", feedback.Diff{New: issues{roomIssue}}},
		"tool_was_reached":           {issues{roomIssue, rule}, issues{ask}, "", feedback.Diff{Fixed: issues{roomIssue}, New: issues{ask}}},
		"reducer_saw_it_all":         {issues{nightsIssue, ask}, nil, fault.Reducer, feedback.Diff{Fixed: issues{ask, nightsIssue}}},
		"cut_off":                    {issues{nightsIssue}, nil, fault.Truncated, feedback.Diff{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			prev := feedback.New(feedback.Input{Attempt: 1, MaxAttempts: 3, Class: fault.ToolValidation, Issues: c.before})
			got := feedback.New(feedback.Input{Attempt: 2, MaxAttempts: 3, Class: c.class, Issues: c.now, Prev: &prev})
			assert.Equal(t, c.want, got.Diff)
		})
	}
}

func TestDiffSharesOutTheIssues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := feedback.New(genInput(nil).Draw(t, "first"))
		f := feedback.New(genInput(&first).Draw(t, "second"))
		if got := fault.SortIssues(append(slices.Clone(f.Diff.New), f.Diff.Persistent...)); !slices.Equal(got, f.Issues) {
			t.Fatalf("new and persistent are %v, the issues %v", got, f.Issues)
		}
		ids := map[string]bool{}
		for _, i := range first.Issues {
			ids[i.ID()] = true
		}
		for _, i := range f.Issues {
			if ids[i.ID()] != slices.Contains(f.Diff.Persistent, i) {
				t.Fatalf("%v: known %v, persistent %v", i, ids[i.ID()], f.Diff.Persistent)
			}
		}
		for _, i := range f.Diff.Fixed {
			if !slices.Contains(first.Issues, i) || slices.ContainsFunc(f.Issues, func(now fault.Issue) bool { return now.ID() == i.ID() }) {
				t.Fatalf("%v counts as fixed", i)
			}
		}
	})
}

func TestFirstAttemptHasNoDiff(t *testing.T) {
	assert.True(t, booking(1, nil, nightsIssue).Diff.IsZero())
}

func TestNewKeepsNothingOfItsInput(t *testing.T) {
	issues := []fault.Issue{roomIssue, nightsIssue, roomIssue}
	f := booking(1, nil, issues...)
	assert.Equal(t, []fault.Issue{roomIssue, nightsIssue, roomIssue}, issues)
	issues[0] = fault.Issue{}
	assert.Equal(t, []fault.Issue{nightsIssue, roomIssue}, f.Issues)
}

func TestSchedule(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	in := feedback.Input{Attempt: 1, MaxAttempts: 3, Scheduled: true, At: noon.In(berlin), Delay: time.Minute}
	assert.Equal(t, &feedback.Schedule{At: noon.Add(time.Minute), Delay: time.Minute}, feedback.New(in).Schedule)
	in.Delay = -time.Second
	assert.Equal(t, &feedback.Schedule{At: noon}, feedback.New(in).Schedule)
	in.Scheduled = false
	assert.Nil(t, feedback.New(in).Schedule)
	assert.True(t, feedback.New(in).Last())
}

func TestNewKeepsNoSlice(t *testing.T) {
	before := booking(1, nil, nightsIssue)
	now := []fault.Issue{roomIssue}
	f := booking(2, &before, now...)
	before.Issues[0], now[0] = enumIssue, enumIssue
	assert.Equal(t, []fault.Issue{nightsIssue}, f.Diff.Fixed)
	assert.Equal(t, []fault.Issue{roomIssue}, f.Issues)
}

func TestMessageIsBounded(t *testing.T) {
	f := booking(1, nil, manyIssues(200)...)
	assert.LessOrEqual(t, len(f.Message), feedback.MaxMessage)
	assert.True(t, strings.HasPrefix(f.Message, "city: required; items/0: expected integer, got string; "), f.Message)
	assert.Regexp(t, `got string; and \d+ more$`, f.Message)
}

func TestBytesThatAreNoTextAreReplaced(t *testing.T) {
	f := feedback.New(feedback.Input{
		Tool: "t\xff", Attempt: 1, MaxAttempts: 1, Class: "c\xff", CorrelationID: "id\xff",
		Issues: []fault.Issue{issue("/a\xff", "required", fault.FromSchema)},
	})
	text, err := f.MarshalJSON()
	require.NoError(t, err)
	var back feedback.RetryFeedback
	require.NoError(t, back.UnmarshalJSON(text))
	assert.Equal(t, f, back)
	assert.Equal(t, "t\uFFFD", f.ToolName)
}
