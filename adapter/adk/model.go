package adk

import (
	"context"
	"iter"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// Model wraps the model of an agent. It retries transport faults and corrects unusable answers within the
// call, which no callback of ADK can do. Within an invocation that the adapter's plugin does not see it
// returns [ErrNoRun].
//
// The last piece of a streamed reply is held back until the reply is judged. Earlier pieces are streamed
// at once, so that a client may see pieces of a reply that is then replaced.
func (a *Adapter) Model(m model.LLM) model.LLM {
	wrapped := &llm{a: a, inner: m}
	if v, ok := m.(variant); ok {
		return &googleLLM{wrapped, v}
	}
	return wrapped
}

type llm struct {
	a     *Adapter
	inner model.LLM
}

// variant is the interface by which ADK distinguishes Gemini's two backends.
type variant interface{ GetGoogleLLMVariant() genai.Backend }

type googleLLM struct {
	*llm
	variant
}

// Name returns the name of the wrapped model.
func (m *llm) Name() string { return m.inner.Name() }

// GenerateContent asks the model until its reply can be used, or the run has ended.
func (m *llm) GenerateContent(
	ctx context.Context, req *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	r, within := m.run(ctx)
	switch {
	case r == nil && within:
		return func(yield func(*model.LLMResponse, error) bool) { yield(nil, ErrNoRun) }
	case r == nil:
		return m.inner.GenerateContent(ctx, req, stream)
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		var spent *genai.GenerateContentResponseUsageMetadata
		for {
			resp, cause, gone := m.once(ctx, asking(req, r.of.Asked()), stream, yield)
			if gone {
				return
			}
			next, err := r.judge(ctx, req, resp, cause)
			if err == nil && next != nil {
				if err = r.next(ctx, next); err == nil {
					req, spent = next, sum(spent, usageOf(resp))
					continue
				}
			}
			if all := withUsage(resp, spent); err != nil {
				yield(costOf(all, spent), err)
			} else if resp != nil {
				yield(all, nil)
			}
			return
		}
	}
}

// run returns the run of a context, and whether the context is that of an invocation.
func (m *llm) run(ctx context.Context) (r *run, within bool) {
	at, ok := ctx.(agent.InvocationContext)
	if !ok {
		return nil, false
	}
	return m.a.find(at.InvocationID(), at.Branch()), true
}

// once asks the model once. It passes pieces on and holds the whole reply back. gone reports that nobody
// listens any more.
func (m *llm) once(
	ctx context.Context, req *model.LLMRequest, stream bool, yield func(*model.LLMResponse, error) bool,
) (whole *model.LLMResponse, cause error, gone bool) {
	for resp, err := range m.inner.GenerateContent(ctx, req, stream) {
		switch {
		case err != nil:
			return nil, err, false
		case resp == nil:
		case !resp.Partial:
			whole = joined(whole, resp)
		case !yield(resp, nil):
			return nil, nil, true
		}
	}
	return whole, nil, false
}

// joined joins whole pieces of a reply, so that their calls are one batch.
func joined(before, resp *model.LLMResponse) *model.LLMResponse {
	if before == nil || before.Content == nil {
		return resp
	}
	all := *resp
	all.Content = &genai.Content{Role: before.Content.Role, Parts: append([]*genai.Part(nil),
		before.Content.Parts...)}
	if resp.Content != nil {
		all.Content.Parts = append(all.Content.Parts, resp.Content.Parts...)
	}
	return &all
}

// judge passes the outcome of a model call to the core. next is the next request, if the model is asked
// again.
func (r *run) judge(
	ctx context.Context, req *model.LLMRequest, resp *model.LLMResponse, cause error,
) (next *model.LLMRequest, err error) {
	verdict, err := r.feed(ctx, resp, cause)
	if err != nil || !verdict.Again {
		return nil, err
	}
	return askAgain(req, resp, verdict.Said), nil
}
