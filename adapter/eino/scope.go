package eino

import (
	"cmp"
	"context"
	"sync"

	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// scope is a tool call in which agents may run. Each adapter there has a run of its own, which begins with
// its first model call and ends with the tool call.
type scope struct {
	// session and id name the sessions of the runs.
	session, id string

	mu   sync.Mutex
	runs []*Run
}

type scopeKey struct{}

// run returns the run of an adapter within the call, and begins it if there is none.
func (w *scope) run(ctx context.Context, a *Adapter) (*Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.a == a {
			return r, nil
		}
	}
	id := w.id
	if w.session != "" {
		id = w.session + "/" + id
	}
	s, err := session.New(session.Config{ID: id})
	if err != nil {
		return nil, err
	}
	r, err := a.begin(ctx, s)
	if err != nil {
		return nil, err
	}
	w.runs = append(w.runs, r)
	return r, nil
}

// end ends the runs within the call.
func (w *scope) end() {
	w.mu.Lock()
	runs := w.runs
	w.runs = nil
	w.mu.Unlock()
	for _, r := range runs {
		result, err := r.End()
		if r.a.ended != nil {
			r.a.ended(r.s, result, err)
		}
	}
}

// enter returns the scope of a tool call: that which was paused, or a new one.
func (r *Run) enter(ctx context.Context, id string) *scope {
	id = cmp.Or(tool.IdempotencyKey(ctx), id)
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.calls[id]
	if w == nil {
		w = &scope{session: tool.SessionID(ctx), id: id}
		if r.calls == nil {
			r.calls = map[string]*scope{}
		}
		r.calls[id] = w
	}
	return w
}

// leave ends a tool call that was not paused.
func (r *Run) leave(w *scope) {
	r.mu.Lock()
	delete(r.calls, w.id)
	r.mu.Unlock()
	w.end()
}
