package loop_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// What a try or a model call consumed before the context ended is in the error, in the record and in the run
// around it, if it is known.
func TestTheUsageOfWhatWasCancelledIsInItsError(t *testing.T) {
	used := message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}
	// On one processor a call that ends its own context has returned before the run sees that it ended.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	priced := policy.DefaultSet()
	priced.Prices = policy.Prices{"dear": {Input: 5_000_000}}
	model := func(end context.CancelFunc, fails bool) loop.Model {
		return loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			end()
			if fails {
				return message.Reply{Usage: used}, ctx.Err()
			}
			return message.Reply{Text: "Yes.", Finish: message.Stop, Usage: used, Model: "dear"}, nil
		})
	}
	for name, work := range map[string]func(context.Context, *session.Session) error{
		"do": func(ctx context.Context, s *session.Session) error {
			ctx, end := context.WithCancel(ctx)
			defer end()
			_, err := loop.Do(ctx, s, loop.FinalAnswer(), func(ctx context.Context, _ loop.Attempt) (int, error) {
				_ = tool.AddUsage(ctx, used)
				end()
				return 0, ctx.Err()
			}, loop.WithClock(looptest.NewClock()))
			return err
		},
		"attempts": func(ctx context.Context, s *session.Session) error {
			ctx, end := context.WithCancel(ctx)
			defer end()
			all := loop.Attempts(ctx, s, loop.FinalAnswer(), loop.WithClock(looptest.NewClock()))
			for a := range all.All() {
				a.Usage = used
				end()
				a.End(ctx.Err())
			}
			return all.Err()
		},
		"a reply": func(ctx context.Context, s *session.Session) error {
			ctx, end := context.WithCancel(ctx)
			defer end()
			_, err := fixture.Run(ctx, model(end, false), s, loop.Input{Prompt: "Is it?"}, loop.Config{Policy: &priced})
			return err
		},
		"a failed call": func(ctx context.Context, s *session.Session) error {
			ctx, end := context.WithCancel(ctx)
			defer end()
			_, err := fixture.Run(ctx, model(end, true), s, loop.Input{Prompt: "Is it?"}, loop.Config{Policy: &priced})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := journal.Dir(t.TempDir())
			for who, s := range map[string]*session.Session{"alone": newSession(t), "with a journal": fixture.In(nil, recorded(t, store))} {
				metered, spent := tool.Metered(t.Context())
				err := work(metered, s)
				var exhausted *loop.RetryExhaustedError
				require.ErrorAs(t, err, &exhausted, who)
				assert.Equal(t, policy.ReasonCancelled, exhausted.Reason)
				assert.Equal(t, used, exhausted.Usage, who)
				require.Len(t, exhausted.Attempts, 1)
				assert.Equal(t, used, exhausted.Attempts[0].Usage, who)
				assert.Equal(t, used, s.State().Attempts()[0].Usage, who)
				assert.Equal(t, used, spent(), who)
			}
			_, err := journal.Replay(strings.NewReader(lines(t, store)), nil)
			assert.NoError(t, err)
		})
	}
}
