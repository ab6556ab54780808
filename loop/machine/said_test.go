package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// The call that takes the place of one that a message ended is held to all that bounds a call.
func TestACallThatAMessageEndedIsMadeAgainWithinItsBounds(t *testing.T) {
	for want, bound := range map[machine.EffectKind]func(*machine.Config){
		machine.AskGrant: func(c *machine.Config) { c.Limited = true },
		machine.Shorten: func(c *machine.Config) {
			c.Policy.Prices = policy.Prices{"m": {ContextWindow: new(int64(1000))}}
			c.Models = map[string]machine.ModelInfo{"": {Name: "m"}}
		},
	} {
		cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
		bound(&cfg)
		st, err := machine.New(cfg, session.State{})
		require.NoError(t, err)
		st = step(t, st, start())
		if cfg.Limited {
			st = step(t, st, machine.Event{Kind: machine.Granted, At: began, Grant: &machine.Grant{}})
		}
		require.Equal(t, machine.Calling, st.Phase)
		effects, err := machine.Step(&st, &machine.Event{Kind: machine.Spoken, At: began, Said: &machine.Said{
			Words: session.Words{ID: "m1", Text: strings.Repeat("No. ", 1000), Stop: true}}})
		require.NoError(t, err)
		require.Len(t, effects, 1)
		assert.Equal(t, want, effects[0].Kind)
	}
}
