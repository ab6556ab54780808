package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Watch hears what servers notify their clients of: the progress of calls, and that a list of tools has
// changed. The SDK takes its handlers when a client is made, so a Watch comes first: [Watch.Options] goes
// into the client, [WithWatch] into [Tools].
//
//	var watch mcp.Watch
//	client := sdk.NewClient(implementation, watch.Options(nil))
//
// Progress is handed to the tool's [tool.Invocation.Report] as {"message", "progress", "total"}. The SDK does
// not order a notification before the result that follows it: what it hands over after the result is dropped.
//
// The zero value is ready for use. It is safe for concurrent use, by any number of clients and sessions; it
// must not be copied.
type Watch struct {
	mu      sync.Mutex
	calls   map[string]func(json.RawMessage)
	count   int64
	changed map[*sdk.ClientSession]bool
}

// Options returns a copy of a client's options through which w hears. Handlers that are there are called too,
// after w; nil stands for no options.
func (w *Watch) Options(base *sdk.ClientOptions) *sdk.ClientOptions {
	var opts sdk.ClientOptions
	if base != nil {
		opts = *base
	}
	progress, changed := opts.ProgressNotificationHandler, opts.ToolListChangedHandler
	opts.ProgressNotificationHandler = func(ctx context.Context, req *sdk.ProgressNotificationClientRequest) {
		w.progressed(req.Params)
		if progress != nil {
			progress(ctx, req)
		}
	}
	opts.ToolListChangedHandler = func(ctx context.Context, req *sdk.ToolListChangedRequest) {
		w.mark(req.Session)
		if changed != nil {
			changed(ctx, req)
		}
	}
	return &opts
}

// Changed reports whether the server has said, since [Tools] last listed the session's tools, that its list
// changed. Ask it between runs, and call Tools again where it is true: a [tool.Set] never changes, so a run
// goes on with the tools it began with, and a call of one that is gone ends with an error.
func (w *Watch) Changed(session *sdk.ClientSession) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed[session]
}

func (w *Watch) mark(session *sdk.ClientSession) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = map[*sdk.ClientSession]bool{}
	}
	w.changed[session] = true
}

// listing forgets a change: what is listed from here on has it.
func (w *Watch) listing(session *sdk.ClientSession) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.changed, session)
}

// follow has report told of a call's progress until stop is called. The token names the call.
func (w *Watch) follow(report func(json.RawMessage)) (token string, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string]func(json.RawMessage){}
	}
	w.count++
	token = "retake-" + strconv.FormatInt(w.count, 10)
	w.calls[token] = report
	return token, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, token)
	}
}

// progress is a notification as a tool's progress.
type progress struct {
	Message  string  `json:"message,omitempty"`
	Progress float64 `json:"progress"`
	Total    float64 `json:"total,omitempty"`
}

func (w *Watch) progressed(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	token, _ := p.ProgressToken.(string)
	w.mu.Lock()
	report := w.calls[token]
	w.mu.Unlock()
	if report == nil {
		return
	}
	if payload, err := encode(progress{Message: p.Message, Progress: p.Progress, Total: p.Total}); err == nil {
		report(payload)
	}
}
