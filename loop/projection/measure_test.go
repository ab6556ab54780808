package projection_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	talks "github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// sent adds up the prompts of a run, in bytes.
type sent struct {
	all, cached int
	last        []message.Message
}

// add counts a prompt. What it has in common with the one before, from its beginning, a provider has cached.
func (s *sent) add(prompt []message.Message) {
	s.all += projection.Bytes(prompt)
	for n := range min(len(prompt), len(s.last)) {
		if !talks.Equal(prompt[n:n+1], s.last[n:n+1]) {
			break
		}
		s.cached += projection.Bytes(prompt[n : n+1])
	}
	s.last = prompt
}

// cost is what the prompts cost, where cached bytes cost a tenth of others.
func (s *sent) cost() int { return s.all - s.cached + s.cached/10 }

// A run of 400 turns in a window that holds a tenth of it: prompts change seldom, so that most of each is a
// prefix of the one before, and the run sends and pays a part of what it would without a window.
func TestPromptsKeepTheirPrefix(t *testing.T) {
	const turns = 400
	t0 := &talk{r: rand.New(rand.NewPCG(1, 1))}
	t0.prompt()
	for range turns {
		t0.turn(true)
	}
	window := projection.Bytes(t0.said) / 10
	talk, whole, short, eager := &talk{r: rand.New(rand.NewPCG(1, 1))}, &sent{}, &sent{}, &sent{}
	var cuts, own []projection.Cut
	planned := 0
	talk.prompt()
	for range turns {
		whole.add(talk.said)
		shown := projection.Apply(talk.said, cuts)
		if projection.Bytes(shown) > window*75/100 {
			cuts = talk.cut(cuts, policy.Context{}.Order(), 4, window/2)
			shown = projection.Apply(talk.said, cuts)
			planned++
		}
		short.add(shown)
		own = talk.cut(own, []policy.ContextStep{policy.Window}, 4, window/2) // what a window that always slides does
		eager.add(projection.Apply(talk.said, own))
		talk.turn(true)
	}
	share := func(s *sent) string { return fmt.Sprintf("%.1f %%", 100*float64(s.cached)/float64(s.all)) }
	t.Logf("window %d bytes, made shorter %d times", window, planned)
	t.Logf("whole: sent %d, prefix %s, cost %d", whole.all, share(whole), whole.cost())
	t.Logf("short: sent %d, prefix %s, cost %d", short.all, share(short), short.cost())
	t.Logf("eager: sent %d, prefix %s, cost %d", eager.all, share(eager), eager.cost())
	assert.Less(t, short.all, whole.all/5)
	assert.Greater(t, short.cached*100, short.all*90)
	assert.Less(t, short.cost(), eager.cost())
}
