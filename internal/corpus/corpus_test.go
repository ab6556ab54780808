package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/corpus"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

const lisbon = `{"id": "q1", "question": "Two nights in Lisbon.", "tools": [{"name": "book", "description": "Books.", "parameters": ` +
	`{"type": "object", "properties": {"nights": {"type": "integer"}}, "required": ["nights"]}}], ` +
	`"replies": [{"text": "book(nights=2)"}, {"text": "book(nights='two')"}], "ladder": [1, 0]}`

func questions(t *testing.T, text string) (all []corpus.Question) {
	t.Helper()
	for q, err := range corpus.Read("corpus", strings.NewReader(text)) {
		require.NoError(t, err)
		all = append(all, q)
	}
	return all
}

func Example() {
	for q, err := range corpus.Read("replies.jsonl", strings.NewReader(lisbon)) {
		if err != nil {
			fmt.Println(err)
			return
		}
		verdicts, _ := corpus.Check(q, nil)
		for n, v := range verdicts {
			fmt.Println(q.ID, n, v.OK, v.Issues)
		}
		run, _ := corpus.Config{}.Play(context.Background(), q)
		fmt.Println("accepted at attempt", run.Attempt, run.Reasons)
	}
	// Output:
	// q1 0 true []
	// q1 1 false [nights: expected integer, got string]
	// accepted at attempt 2 map[accepted:1 immediate:1]
}

// A run that has a journal already continues at its end, with the same result.
func TestARecordedRunIsNotRunAgain(t *testing.T) {
	q := questions(t, lisbon)[0]
	fresh, err := corpus.Config{}.Play(t.Context(), q)
	require.NoError(t, err)
	cfg := corpus.Config{Journals: &looptest.Store{}}
	short := q
	short.Ladder = q.Ladder[:1]
	first, err := cfg.Play(t.Context(), short)
	require.NoError(t, err)
	assert.Zero(t, first.Attempt, "the script is out of replies")
	for range 2 {
		again, err := cfg.Play(t.Context(), q)
		require.NoError(t, err)
		assert.Equal(t, fresh.Digest, again.Digest)
		assert.Equal(t, fresh.Reasons, again.Reasons)
		assert.Equal(t, 2, again.Attempt)
		assert.Equal(t, 1, again.Feedback)
	}
	q.Prompt = "Three nights."
	_, err = cfg.Play(t.Context(), q)
	require.ErrorContains(t, err, `corpus:1: session "q1": it was recorded with another question`)
	once := policy.DefaultSet()
	once.Global.MaxAttempts = new(1)
	cfg.Policy = &once
	_, err = cfg.Play(t.Context(), questions(t, lisbon)[0])
	require.ErrorContains(t, err, "it was recorded under another config")
}

// Half a surrogate pair is no character and is replaced. Other escapes are kept.
func TestHalvesOfSurrogatePairs(t *testing.T) {
	text := func(escaped string) string {
		return questions(t, strings.Replace(lisbon, "book(nights=2)", escaped, 1))[0].Replies[0].Text
	}
	assert.Equal(t, "\ufffd!", text(`\uD83D!`))
	assert.Equal(t, "\ufffd", text(`\ude00`))
	assert.Equal(t, "\ufffd\U0001f600\ufffd", text(`\ud83d\ud83d\ude00\ude00`))
	assert.Equal(t, `\ud83d`, text(`\\ud83d`))
}

// A reply has come, so nothing asks what its call would have cost.
func TestAReplyIsCheckedWhateverCallsMayCost(t *testing.T) {
	set := policy.DefaultSet()
	set.Spending = policy.Spending{Run: policy.Allowance{Cost: new(int64(1)), TotalTokens: new(int64(1))}}
	verdicts, err := corpus.Check(questions(t, lisbon)[0], &set)
	require.NoError(t, err)
	assert.Equal(t, []bool{true, false}, []bool{verdicts[0].OK, verdicts[1].OK})
	assert.Contains(t, verdicts[1].Feedback, "nights")
}

func TestACorpusThatBreaksOff(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, begun := range []string{"", lisbon[:50], lisbon} {
		in := io.MultiReader(strings.NewReader(begun), iotest.ErrReader(broken))
		for _, err := range corpus.Read("corpus", in) {
			require.ErrorIs(t, err, broken, "not of the half of a line that was read")
		}
	}
}

func FuzzPlay(f *testing.F) {
	f.Add(lisbon)
	f.Add(`{"id": "q", "tools": [{"name": "f", "parameters": {}}], "replies": [{"tool_calls": [{"name": "f", "arguments": "{}"}]}]}`)
	f.Add(`{"id": "\n", "tools": [], "ladder": [9]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for q, err := range corpus.Read("corpus", strings.NewReader(text)) {
			if err != nil {
				return
			}
			run, err := corpus.Config{}.Play(t.Context(), q)
			if err == nil && run.Attempt > max(len(q.Replies), len(q.Ladder)) {
				t.Fatal("more replies than the question has")
			}
		}
	})
}
