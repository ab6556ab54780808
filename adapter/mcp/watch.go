package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/feedback"
)

// Watch receives the notifications of servers: the progress of calls, and changes of a list of tools. The
// SDK takes its handlers when a client is made, so make the Watch first: [Watch.Options] goes into the
// client, [WithWatch] into [Tools].
//
//	var watch mcp.Watch
//	client := sdk.NewClient(implementation, watch.Options(nil))
//
// The tool's [tool.Invocation.Report] gets progress as {"message", "progress", "total"}: of a call the first
// hundred, then at most ten a second, each with at most 1 KiB of words. All restart the clock. The SDK may
// deliver a notification after the result that follows it: such progress is dropped.
//
// The zero value is ready for use. It is safe for concurrent use, by any number of clients and sessions.
// It must not be copied.
type Watch struct {
	mu      sync.Mutex
	calls   map[string]*followed
	count   int64
	changed map[*sdk.ClientSession]bool
}

// Options returns a copy of a client's options with w's handlers. Existing handlers are called after w's.
// nil means no options.
func (w *Watch) Options(base *sdk.ClientOptions) *sdk.ClientOptions {
	var opts sdk.ClientOptions
	if base != nil {
		opts = *base
	}
	progress, changed := opts.ProgressNotificationHandler, opts.ToolListChangedHandler
	opts.ProgressNotificationHandler = func(ctx context.Context, req *sdk.ProgressNotificationClientRequest) {
		w.progressed(req)
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

// Changed reports whether the server has announced a change of its list since [Tools] last listed the
// session's tools. Check it between runs, and call Tools again if it is true: a [tool.Set] never changes,
// so a run keeps the tools it began with, and a call of a tool that is gone ends with an error.
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

// listing clears a change: the new list has it.
func (w *Watch) listing(session *sdk.ClientSession) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.changed, session)
}

// Each report is a line of the journal, so of a call the first are passed on, and later ones only so often.
// maxReportWords is the most bytes of the words of one.
const (
	firstReports   = 100
	apart          = 100 * time.Millisecond
	maxReportWords = 1 << 10
)

// followed is a call whose progress is passed on.
type followed struct {
	session *sdk.ClientSession
	alive   func()
	report  func(json.RawMessage)
	told    int
	last    time.Time
}

// tells reports whether progress that comes now is passed on.
func (f *followed) tells(now time.Time) bool {
	if f.told >= firstReports && now.Sub(f.last) < apart {
		return false
	}
	f.told, f.last = f.told+1, now
	return true
}

// follow passes the progress of a call in a session to report until stop is called. alive is called with all
// that comes. The token identifies the call; the server of another session may guess it.
func (w *Watch) follow(
	session *sdk.ClientSession, alive func(), report func(json.RawMessage),
) (token string, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string]*followed{}
	}
	w.count++
	token = "retake-" + strconv.FormatInt(w.count, 10)
	w.calls[token] = &followed{session: session, alive: alive, report: report}
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

func (w *Watch) progressed(req *sdk.ProgressNotificationClientRequest) {
	p := req.Params
	if p == nil {
		return
	}
	token, _ := p.ProgressToken.(string)
	w.mu.Lock()
	call := w.calls[token]
	known := call != nil && call.session == req.Session
	tells := known && call.tells(time.Now())
	w.mu.Unlock()
	if !known {
		return
	}
	call.alive()
	if !tells {
		return
	}
	if payload, err := encode(progress{Message: feedback.Cut(p.Message, maxReportWords), Progress: p.Progress,
		Total: p.Total}); err == nil {
		call.report(payload)
	}
}
