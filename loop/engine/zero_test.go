package engine_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// What is plain data can be printed and asked as it is, also without a value.
func TestZeroValuesOfDataDoNotPanic(t *testing.T) {
	var e engine.PlannerError
	assert.Equal(t, "planner: it gave no plan", e.Error())
	assert.NotErrorIs(t, &e, errors.ErrUnsupported)
	assert.Empty(t, new(machine.Cycle).String())
	assert.NotPanics(t, func() { new(limit.State).Part(0, 1) })
}
