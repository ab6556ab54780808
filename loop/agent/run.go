package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

// Account configures what [Run] adds to the envelope. The zero value adds what models and providers report.
type Account struct {
	// Provider and Model are used if no response names them.
	Provider, Model string
	// Prices are used for the cost, in millionths of a US dollar; may be nil.
	Prices policy.Prices
	// RawHeaders adds the headers of the last response, without secrets.
	RawHeaders bool
}

// Run is [loop.Loop.Run] with a full envelope: start time, duration including waits, tokens, cost, the model
// that answered last, the provider, and the request id and rate limits of the last response. It always
// returns a result; errors are data.
//
// Headers and rate limits come from the adapter ([ratelimit.Watch]) or from an error. The cost is that of all
// models of the run, those of [loop.WithModels] too.
func Run(
	ctx context.Context, model loop.Model, s *session.Session, in loop.Input, cfg loop.Config, a Account,
	opts ...loop.Option,
) result.Result[json.RawMessage] {
	return Timed(ctx, loop.ClockOf(opts...), func(ctx context.Context) result.Result[json.RawMessage] {
		r, l, err := account(ctx, model, s, in, cfg, a, opts)
		return l.fill(Envelope(r, err))
	})
}

// Converse is [Run] for one turn of a conversation. The reply is the text for the user, and the state is the
// conversation: the History of the next turn. If JSON was wanted and plain text came, the turn is in
// progress: the model asks for more.
func Converse(
	ctx context.Context, model loop.Model, s *session.Session, in loop.Input, cfg loop.Config, a Account,
	opts ...loop.Option,
) result.Conversation[json.RawMessage, []message.Message] {
	var c result.Conversation[json.RawMessage, []message.Message]
	c.Result = Timed(ctx, loop.ClockOf(opts...), func(ctx context.Context) result.Result[json.RawMessage] {
		r, l, err := account(ctx, model, s, in, cfg, a, opts)
		e := Envelope(r, err)
		if err == nil && r.Degraded {
			e.Status, e.Data = result.StatusInProgress, nil
		}
		c.Reply, c.State = r.Text, r.Transcript
		return l.fill(e)
	})
	return c
}

func account(
	ctx context.Context, model loop.Model, s *session.Session, in loop.Input, cfg loop.Config, a Account,
	opts []loop.Option,
) (loop.Result, *ledger, error) {
	l := &ledger{Account: a}
	opts = append(slices.Clip(opts), loop.WithObserver(l))
	made, err := loop.New(model, cfg, opts...)
	if err != nil {
		return loop.Result{}, l, err
	}
	r, err := made.Run(ratelimit.Watch(ctx, l.responded), s, in)
	return r, l, err
}

// ledger collects what the models of one run report: it is a tracer of the run. It is safe for concurrent
// use.
type ledger struct {
	Account
	mu       sync.Mutex
	cost     result.Cost
	unpriced map[string]bool
	model    string
	last     *ratelimit.Response
	// responseModel is the model that the response to the call under way names.
	responseModel string
}

func (l *ledger) responded(r ratelimit.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.responseModel = &r, r.Model
}

// Observe does nothing: the ledger follows the calls of models.
func (l *ledger) Observe(context.Context, observe.Notice) {}

// Begin follows a call of a model.
func (l *ledger) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	if w.Kind != observe.WorkModel {
		return ctx, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.responseModel = ""
	return ctx, func(e observe.WorkEnd) { l.replied(&w, &e) }
}

func (l *ledger) replied(w *observe.Work, e *observe.WorkEnd) {
	l.mu.Lock()
	defer l.mu.Unlock()
	model := cmp.Or(e.Model, l.responseModel, w.Model, l.Model)
	l.model = cmp.Or(model, l.model)
	if l.Prices == nil || e.Usage.Total() == 0 {
		return
	}
	price, known := l.Prices.Of(model)
	if !known {
		if l.unpriced == nil {
			l.unpriced = map[string]bool{}
		}
		l.unpriced[model] = true
	}
	cost := price.Cost(e.Usage)
	l.cost = l.cost.Plus(result.Cost{
		Input: dollars(cost.Input), Output: dollars(cost.Output),
		CacheRead: dollars(cost.CacheRead), CacheWrite: dollars(cost.CacheWrite),
	})
}

// dollars converts a part of a [policy.Cost].
func dollars(part int64) float64 { return float64(part) / 1e12 }

// fill adds the ledger to the result.
func (l *ledger) fill(r result.Result[json.RawMessage]) result.Result[json.RawMessage] {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &r.Execution
	x.Cost, x.Model, x.Provider = l.cost, cmp.Or(l.model, l.Model), l.Provider
	for _, model := range canon.Keys(l.unpriced) {
		r.Meta = r.Warn(fmt.Sprintf("the price table has no model %q: its tokens are not in the cost", model))
	}
	if l.last == nil {
		return r
	}
	x.Provider = cmp.Or(x.Provider, l.last.Provider)
	r.Provider.RequestID = cmp.Or(r.Provider.RequestID, fault.RequestID(l.last.Headers))
	if !r.RateLimit.Limited && !r.RateLimit.RetryAfter.Known {
		r.RateLimit = l.last.Limits()
	}
	if l.RawHeaders {
		r.Provider.RawHeaders = result.CleanHeaders(l.last.Headers)
	}
	return r
}
