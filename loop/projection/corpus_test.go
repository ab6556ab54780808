package projection_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// asked is a question of a corpus with its tools; see package corpus of looptest.
type asked struct {
	Question json.RawMessage `json:"question"`
	Tools    []offered       `json:"tools"`
	Replies  []struct {
		Text  string         `json:"text"`
		Calls []message.Call `json:"tool_calls"`
	} `json:"replies"`
	Ladder []int `json:"ladder"`
}

type offered struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// ladders are the questions that models got wrong first.
func ladders(t *testing.T) (all []asked) {
	path := os.Getenv("RETAKE_CORPUS")
	if path == "" {
		t.Skip("RETAKE_CORPUS is not set: it names the file of a corpus of real replies")
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var q asked
		require.NoError(t, json.Unmarshal(lines.Bytes(), &q))
		if len(q.Ladder) > 1 {
			all = append(all, q)
		}
	}
	require.NoError(t, lines.Err())
	return all
}

// tools are the tools of all questions that have names of their own, and those questions. Each tool returns
// a text of 400 bytes.
func tools(t *testing.T, all []asked) (*tool.Set, []asked) {
	var made []*tool.Tool
	var kept []asked
	known := map[string]bool{}
	said := json.RawMessage(`"` + strings.Repeat("a receipt ", 40) + `"`)
	for _, q := range all {
		if slices.ContainsFunc(q.Tools, func(t offered) bool { return known[t.Name] }) {
			continue
		}
		for _, spec := range q.Tools {
			known[spec.Name] = true
			own, err := tool.Raw(spec.Name, spec.Description, spec.Parameters, func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return said, nil
			})
			require.NoError(t, err)
			made = append(made, own)
		}
		kept = append(kept, q)
	}
	set, err := tool.NewSet(made...)
	require.NoError(t, err)
	return set, kept
}

// script is a model that goes through the ladders, one reply after the other, and counts its prompts.
type script struct {
	replies         []message.Reply
	turn            int
	tokens, longest int64
	sent
}

func newScript(all []asked) *script {
	s := &script{}
	for _, q := range all {
		for _, at := range q.Ladder {
			r := message.Reply{Text: q.Replies[at].Text, Finish: message.Stop}
			for n, c := range q.Replies[at].Calls {
				id := fmt.Sprintf("c%d-%d", len(s.replies), n)
				r.Calls = append(r.Calls, message.Call{ID: id, Name: c.Name, Arguments: c.Arguments})
				r.Finish = message.ToolUse
			}
			s.replies = append(s.replies, r)
		}
	}
	s.replies = append(s.replies, message.Reply{Text: "Done.", Finish: message.Stop})
	return s
}

func (s *script) Reply(_ context.Context, req loop.Request) (message.Reply, error) {
	takes := machine.EstimateTokens(req.Messages)
	s.tokens, s.longest = s.tokens+takes, max(s.longest, takes)
	s.add(req.Messages)
	s.turn++
	return s.replies[s.turn-1], nil
}

// One run goes through all ladders, under several rules of what its prompts leave out: what they take by the
// estimate of tokens, and what is common with the prompt before. All go through it.
func TestTokensOfTheLadders(t *testing.T) {
	set, all := tools(t, ladders(t))
	least := int64(math.MaxInt64)
	for _, c := range []struct {
		name   string
		window int64
		steps  []policy.ContextStep
	}{
		{"nothing is left out", 0, []policy.ContextStep{}},
		{"fold, 16,000", 16_000, []policy.ContextStep{policy.Fold}},
		{"default, 16,000", 16_000, nil},
		{"default, 8,000", 8_000, nil},
	} {
		p := policy.DefaultSet()
		p.MaxTurns, p.Budgets = policy.Unlimited, policy.Budgets{Tool: policy.Unlimited, Run: policy.Unlimited, UnknownTools: policy.Unlimited}
		p.Global.MaxAttempts = new(policy.Unlimited)
		p.Context.Steps = c.steps
		if c.window > 0 {
			p.Prices = map[string]policy.Price{"m": {ContextWindow: &c.window}}
		}
		model := newScript(all)
		l, err := loop.New(model, loop.Config{Tools: set, Policy: &p, Models: map[string]machine.ModelInfo{"": {Name: "m"}}},
			loop.WithClock(looptest.NewClock()))
		require.NoError(t, err)
		_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "Answer them all."})
		require.NoError(t, err)
		t.Logf("| %s | %d | %d | %.1f %% | %d |", c.name, model.tokens, model.longest,
			100*float64(model.cached)/float64(model.all), model.cost())
		assert.Len(t, model.replies, model.turn)
		assert.LessOrEqual(t, model.tokens, least)
		least = model.tokens
	}
	t.Logf("%d ladders", len(all))
}
