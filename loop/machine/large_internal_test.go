package machine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Prompts of more than 20 MB are made shorter as others are, also where an int has 32 bits.
func TestSharesOfLargePromptsAreExact(t *testing.T) {
	const size = 25 << 20
	set := policy.DefaultSet()
	st := State{Config: &Config{}, Policy: &set, policies: policiesOf(&set)}
	st.transcript = seq.Of(message.Message{Role: message.User, Text: strings.Repeat("x", size-4)})
	st.inner.Shorten = &shortenRun{Percent: 90}
	assert.Equal(t, size/10*9, st.PlanCuts().Goal)

	s := &step{State: &st}
	s.remeasure(1000, &projection.CutPlan{Size: size, Freed: size})
	assert.EqualValues(t, 500, st.Prompt.Usage.InputTokens)
}
