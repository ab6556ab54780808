package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/policy/internal/draw"
)

// A policy keeps its origins wherever it goes as JSON: to a journal, a worker, and back.
func TestOriginsSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := draw.Layer().Draw(t, "layer")
		origins := map[string]policy.Source{}
		for _, field := range l.Sets() {
			source := rapid.SampledFrom([]policy.Source{
				{File: "policy.yaml", Line: 3, Column: 1}, {File: "a:b:7", Line: 1}, {File: "tool.WithPolicy"}, {File: `a "b"`}, {File: "a:3"}, {File: "a:-1:2"},
				{File: "a:01:2"}, {File: "a:0:2"}, {File: "3:1"}, {File: "a:3:x"}, {File: "a:3:-1"}, {File: "a:3:"}, {Line: 5, Column: 2}, {},
			}).Draw(t, field)
			if source != (policy.Source{}) {
				origins[field] = source
			}
		}
		if len(origins) > 0 {
			l.Origins = origins
		}
		s := policy.Set{Tools: map[string]policy.Layer{"a": l}, Answer: l, Budgets: policy.DefaultSet().Budgets, MaxTurns: 1, MaxCalls: 1}
		data, err := json.Marshal(s)
		require.NoError(t, err)
		var got policy.Set
		require.NoError(t, json.Unmarshal(data, &got))
		if len(origins) > 0 {
			require.Equal(t, l.Origins, got.Answer.Origins)
			require.Equal(t, l.Origins, got.Tools["a"].Origins)
		}
		require.Equal(t, s.Explain(policy.Target{Tool: "a"}), got.Explain(policy.Target{Tool: "a"}))
		again, err := json.Marshal(got)
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	})
}

// A policy that was written as JSON is a policy file. Its fields stay those of the first file.
func TestAPolicyWrittenAsJSONIsAFile(t *testing.T) {
	set, err := file.Read("policy.yaml", []byte("global: {max_attempts: 4}\n"))
	require.NoError(t, err)
	data, err := json.Marshal(set)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"global":{"max_attempts":4,"origins":{"max_attempts":"policy.yaml:1:10"}}`)
	again, err := file.Read("copy.json", data)
	require.NoError(t, err)
	assert.Equal(t, set, again)
}

func TestOriginsThatCannotBeRead(t *testing.T) {
	var l policy.Layer
	assert.EqualError(t, json.Unmarshal([]byte(`{"origins": {"max_atempts": "a:1:1", "opt_out": 3}}`), &l),
		"origins.max_atempts: this is no field of a policy; leave it out\n"+
			"origins.opt_out: expected a place, such as policy.yaml:3:1, got a number \"3\"")
	assert.EqualError(t, json.Unmarshal([]byte(`{"origins": []}`), &l), "origins: expected a mapping of keys to values, got a list")
}
