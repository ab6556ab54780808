package dbos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// Who cancels a run learns what it has done, and what is in doubt.
func TestACancelledRunHasAReport(t *testing.T) {
	for place, c := range map[string]struct {
		doubt    int
		messages int
	}{
		"model":       {messages: 1},
		"note before": {doubt: 1, messages: 4},
		"pay before":  {doubt: 1, messages: 4},
		"pay after":   {doubt: 1, messages: 4},
	} {
		t.Run(place, func(t *testing.T) {
			there, goOn, once := make(chan bool), make(chan bool), sync.Once{}
			a := booking(func(at string) {
				if at == place {
					once.Do(func() { there <- true; <-goOn })
				}
			}, func(string) {})
			a.Parallel = 1
			c2, r := launched(t, "cancelled"+strings.ReplaceAll(place, " ", ""), a)
			own, err := r.Start(c2, "order-42", loop.Input{Prompt: "Book it."})
			require.NoError(t, err)
			<-there
			require.NoError(t, sdk.CancelWorkflow(c2, "order-42"))
			run, err := r.Get(c2, "order-42")
			require.NoError(t, err)
			result, x := exhaustion(t, run)
			assert.Equal(t, policy.ReasonCancelled, x.Reason)
			assert.Len(t, result.InDoubt, c.doubt)
			assert.Len(t, result.Transcript, c.messages)
			other, err := Get(c2, "order-42")
			require.NoError(t, err)
			_, err = other.Result()
			require.ErrorIs(t, err, sdk.ErrAwaitedWorkflowCancelled)

			goOn <- true
			result, x = exhaustion(t, own)
			assert.Equal(t, policy.ReasonCancelled, x.Reason)
			assert.Len(t, result.InDoubt, c.doubt, "DBOS drops what a step of a cancelled workflow did")

			_, err = sdk.ResumeWorkflow[string](c2, "order-42")
			require.NoError(t, err)
			run, err = r.Get(c2, "order-42")
			require.NoError(t, err)
			result, err = run.Result()
			require.NoError(t, err)
			assert.Equal(t, "Booked.", result.Text)
			assert.Len(t, result.InDoubt, strings.Count(place, "pay"), "what is idempotent was made again")
		})
	}
}

// Wherever a record ends, the report says so, and has each call that had begun.
func TestEachPartOfARecordHasAReport(t *testing.T) {
	c, r := launched(t, "parts", booking(func(string) {}, func(string) {}))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	_, err = run.Result()
	require.NoError(t, err)
	whole, err := run.h.GetStatus()
	require.NoError(t, err)
	steps, err := sdk.GetWorkflowSteps(c, "order-42")
	require.NoError(t, err)
	doubtful := 0
	for n := range steps {
		p := &past{steps: map[int]sdk.StepInfo{}}
		for _, s := range steps[:n] {
			p.steps[s.StepID] = s
		}
		text, err := r.runAs(p, "order-42", "order-42", textOf(whole.Input))
		require.NoError(t, err, n)
		result, _, err := read(text)
		names := make([]string, n)
		models := 0
		for k, s := range steps[:n] {
			if names[k] = s.StepName; names[k] == "retake.model" {
				models++
			}
		}
		if models == 4 { // the last reply ends the run, which looks for letters then
			require.NoError(t, err, n)
			continue
		}
		require.ErrorIs(t, err, policy.ReasonCancelled, n)
		begun := slices.Contains(names, "retake.begun")
		paid := begun && slices.Index(names, "retake.begun")+1 < n
		pays := slices.ContainsFunc(result.InDoubt, func(d machine.CallRef) bool { return d.Tool == "pay" })
		assert.Equal(t, begun && !paid, pays, fmt.Sprint(n, names))
		if pays {
			doubtful++
		}
	}
	assert.Positive(t, doubtful)
}
