package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/policy"
)

// A layer of a policy points into one copy of it.
func TestMemoryOfALayer(t *testing.T) {
	p := policy.Correction()
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = p.Layer() }), 12.0)
}
