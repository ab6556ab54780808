package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// The policies that a state holds are those that its set would merge.
func TestPoliciesAreThoseOfTheSet(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.NoProgress = new(2)
	set.Answer.MaxAttempts = new(7)
	set.Tools = map[string]policy.Layer{"book": {MaxAttempts: new(2)}, "tool": {MaxAttempts: new(9)}}
	set.Transport.MaxAttempts = new(6)
	set.ToolTransport = map[string]policy.Layer{"book": {MaxAttempts: new(4)}, "search": {OptOut: new(true)}}
	st := State{policies: policiesOf(&set)}
	for _, plane := range []fault.Plane{"", fault.Correction, fault.Transport} {
		for _, tool := range []string{"", "book", "search", "tool", "other"} {
			of := policy.Target{Plane: plane, Tool: tool}
			assert.Equal(t, set.Policy(of), *st.PolicyOf(of), "%v", of)
		}
	}
}
