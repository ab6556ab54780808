package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

// Price is what a model costs, in US dollars per million tokens. The zero value is free of charge.
type Price struct {
	// Input and Output are for tokens that were neither read from a cache nor written to one, and for tokens
	// that the model wrote.
	Input, Output float64
	// CacheRead and CacheWrite are for tokens of the prompt that were.
	CacheRead, CacheWrite float64
}

// Cost is what usage comes to.
func (p Price) Cost(u message.Usage) result.Cost {
	const million = 1e6
	plain := max(u.InputTokens-u.CacheReadTokens-u.CacheWriteTokens, 0)
	return result.Cost{
		Input:      float64(plain) * p.Input / million,
		Output:     float64(u.OutputTokens) * p.Output / million,
		CacheRead:  float64(u.CacheReadTokens) * p.CacheRead / million,
		CacheWrite: float64(u.CacheWriteTokens) * p.CacheWrite / million,
	}
}

// Prices are by model. A name with a date or version behind it ("gpt-4o-mini-2024-07-18") has the price of
// the longest name in the table that it continues. Nil is no table: nothing is said of costs.
type Prices map[string]Price

// Of is the price of a model; false where the table has none.
func (p Prices) Of(model string) (Price, bool) {
	best, found := "", false
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if model == name || strings.HasPrefix(model, name+"-") || strings.HasPrefix(model, name+"@") {
			if !found || len(name) > len(best) {
				best, found = name, true
			}
		}
	}
	return p[best], found
}

// Account says what [Run] puts into the envelope besides what the run says itself. The zero value adds what
// models and their providers tell.
type Account struct {
	// Provider and Model are names for where no response tells them.
	Provider, Model string
	// Prices give the cost; nil for none.
	Prices Prices
	// RawHeaders asks for the headers of the last response, without secrets.
	RawHeaders bool
}

// Run is [loop.Run] with a full envelope: when it began and how long it took, waits included, tokens, cost,
// the model that answered last, the provider, and the rate limits after the last response. Errors are data:
// whatever happens, a result comes back.
//
// Headers and rate limits are those that an adapter tells ([ratelimit.Watch]), or an error. Models that a
// planner may fall back to are metered where they are given as [Metered].
func Run(
	ctx context.Context, model loop.Model, s *session.Session, prompt string, cfg loop.Config, a Account,
	opts ...loop.Option,
) result.Result[json.RawMessage] {
	return Timed(ctx, loop.ClockOf(opts...), func(ctx context.Context) result.Result[json.RawMessage] {
		r, l, err := account(ctx, model, s, prompt, cfg, a, opts)
		return l.fill(Envelope(r, err))
	})
}

// Converse is [Run] for one turn of a conversation: the reply is the text for the user, the state what was
// said: message.Transcript{}.Append(state...) is the History of the next turn. A turn whose answer was wanted
// as JSON and came as plain text is in progress: the model asks for more.
func Converse(
	ctx context.Context, model loop.Model, s *session.Session, prompt string, cfg loop.Config, a Account,
	opts ...loop.Option,
) result.Conversation[json.RawMessage, []message.Message] {
	var c result.Conversation[json.RawMessage, []message.Message]
	c.Result = Timed(ctx, loop.ClockOf(opts...), func(ctx context.Context) result.Result[json.RawMessage] {
		r, l, err := account(ctx, model, s, prompt, cfg, a, opts)
		c = Conversation(r, err)
		return l.fill(c.Result)
	})
	return c
}

func account(
	ctx context.Context, model loop.Model, s *session.Session, prompt string, cfg loop.Config, a Account,
	opts []loop.Option,
) (loop.Result, *ledger, error) {
	l := &ledger{Account: a}
	ctx = ratelimit.Watch(context.WithValue(ctx, ledgerKey{}, l), l.came)
	if _, already := model.(metered); !already && model != nil {
		model = Metered(model)
	}
	r, err := loop.Run(ctx, model, s, prompt, cfg, opts...)
	return r, l, err
}

// Conversation is what [loop.Run] returned as a turn of a conversation: see [Converse].
func Conversation(r loop.Result, err error) result.Conversation[json.RawMessage, []message.Message] {
	e := Envelope(r, err)
	if err == nil && r.Degraded {
		e.Status, e.Data = result.StatusInProgress, nil
	}
	said := r.Transcript.Slice(0, r.Transcript.Len())
	return result.Conversation[json.RawMessage, []message.Message]{Reply: r.Text, State: said, Result: e}
}

// Metered is a model whose replies [Run] accounts for. The model that is given to Run needs none; those of
// [loop.WithModels] do. m is not nil.
func Metered(m loop.Model) loop.Model { return metered{m} }

type metered struct{ loop.Model }

func (m metered) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	reply, err := m.Model.Reply(ctx, req)
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
		l.replied(reply)
	}
	return reply, err
}

type ledgerKey struct{}

// ledger is what the models of one run told. Safe for concurrent use.
type ledger struct {
	Account
	mu       sync.Mutex
	cost     result.Cost
	unpriced map[string]bool
	model    string
	last     *ratelimit.Response
}

func (l *ledger) came(r ratelimit.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = &r
}

func (l *ledger) replied(reply message.Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	model := reply.Model
	if model == "" && l.last != nil {
		model = l.last.Model
	}
	if model == "" {
		model = l.Model
	}
	if model != "" {
		l.model = model
	}
	if l.Prices == nil || reply.Usage.Total() == 0 {
		return
	}
	price, known := l.Prices.Of(model)
	if !known {
		if l.unpriced == nil {
			l.unpriced = map[string]bool{}
		}
		l.unpriced[model] = true
	}
	l.cost = l.cost.Plus(price.Cost(reply.Usage))
}

// fill adds what the ledger has.
func (l *ledger) fill(r result.Result[json.RawMessage]) result.Result[json.RawMessage] {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &r.Execution
	x.Cost, x.Model, x.Provider = l.cost, l.model, l.Provider
	if x.Model == "" {
		x.Model = l.Model
	}
	for _, model := range slices.Sorted(maps.Keys(l.unpriced)) {
		r.Meta = r.Warn(fmt.Sprintf("the table of prices has no model %q: the cost leaves its tokens out", model))
	}
	if l.last == nil {
		return r
	}
	if x.Provider == "" {
		x.Provider = l.last.Provider
	}
	if !r.RateLimit.Limited && !r.RateLimit.RetryAfter.Known {
		r.RateLimit = ratelimit.Parse(l.last.Headers, l.last.At, ratelimit.ForProvider(l.last.Provider))
	}
	if l.RawHeaders {
		r.Provider.RawHeaders = result.CleanHeaders(l.last.Headers)
	}
	return r
}
