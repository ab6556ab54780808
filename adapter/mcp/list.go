package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Option is an optional part of [Tools].
type Option func(*options)

type options struct {
	meta    func(context.Context) map[string]any
	watch   *Watch
	connect func(context.Context) (*sdk.ClientSession, error)
}

// WithWatch reports the progress of calls through w. The session's client must have been made with w's
// Options. Without it no progress is requested.
func WithWatch(w *Watch) Option { return func(o *options) { o.watch = w } }

// WithReconnect makes the first call after a lost connection call connect for a new session. A lost
// connection is then a fault that the transport policy retries, with the same idempotency key; without
// WithReconnect no policy retries it. The new session is used with the tools that the old one listed, which
// is not closed here: connect may do that. connect is called by one call at a time. Its context is that of
// the call and ends with it: the session, and the process behind it, must outlive it.
func WithReconnect(connect func(context.Context) (*sdk.ClientSession, error)) Option {
	return func(o *options) { o.connect = connect }
}

// WithMeta adds what f returns to the _meta of every call, such as the trace context of the tool call's span:
// the protocol takes traceparent, tracestate and baggage there. The members of this package win.
func WithMeta(f func(context.Context) map[string]any) Option {
	return func(o *options) { o.meta = f }
}

// maxPages bounds the pages of a list, of which some may be empty.
const maxPages = 1000

var errNoSession = errors.New("the session is nil; connect the client first")

// Tools lists the tools of a session and makes a retake tool of each, in the server's order. They call
// through the session, which the caller still has to close. They are safe for concurrent use.
//
// The error joins all that is wrong with cfg or with the list: duplicate names, schemas that cannot be
// used (unless [Config.Schemas] allows them), output schemas that cannot be compiled, endless pages. If
// the list could not be fetched, it is a [fault.ProviderError].
func Tools(
	ctx context.Context, session *sdk.ClientSession, cfg Config, opts ...Option,
) ([]*tool.Tool, error) {
	var o options
	for n, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("mcp: option %d is nil; leave it out", n+1)
		}
		opt(&o)
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("mcp: config: %w", err)
	}
	if session == nil {
		return nil, fmt.Errorf("mcp: %w", errNoSession)
	}
	server := serverName(session)
	o.watch.listing(session)
	listed, err := fetch(ctx, session, cfg.MaxTools)
	if err != nil {
		return nil, fmt.Errorf("mcp: the tools of server %q: %w", server, err)
	}
	tools, err := cfg.tools(ctx, listed, server, newLink(session, o.connect), o)
	if err != nil {
		return nil, fmt.Errorf("mcp: the tools of server %q: %w", server, err)
	}
	return tools, nil
}

func serverName(session *sdk.ClientSession) string {
	if r := session.InitializeResult(); r != nil && r.ServerInfo != nil {
		return r.ServerInfo.Name
	}
	return ""
}

// fetch reads all pages of the list.
func fetch(ctx context.Context, session *sdk.ClientSession, maxTools int) ([]*sdk.Tool, error) {
	var listed []*sdk.Tool
	var cursors []string
	for cursor := ""; ; {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, classify(ctx, err, subject{server: serverName(session), what: "tools/list"})
		}
		if listed = append(listed, page.Tools...); len(listed) > maxTools {
			return nil, fmt.Errorf("the list has more than MaxTools (%d) tools", maxTools)
		}
		if cursor = page.NextCursor; cursor == "" {
			return listed, nil
		}
		if slices.Contains(cursors, cursor) || len(cursors) == maxPages {
			return nil, fmt.Errorf("the list has endless pages: page %d continues with the cursor %q",
				len(cursors)+1, cursor)
		}
		cursors = append(cursors, cursor)
	}
}

func (c Config) tools(
	ctx context.Context, listed []*sdk.Tool, server string, l *link, o options,
) ([]*tool.Tool, error) {
	chosen, err := c.choose(listed)
	if err != nil {
		return nil, err
	}
	var tools []*tool.Tool
	var errs []error
	for _, t := range chosen {
		if err := context.Cause(ctx); err != nil { // compiling a schema may take a second
			return nil, fmt.Errorf("tool %q: its schema was not compiled: %w", t.Name, err)
		}
		made, err := c.tool(t, server, l, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", t.Name, err))
		} else if made != nil {
			tools = append(tools, made)
		}
	}
	return tools, errors.Join(errs...)
}

// anyObject is the schema of arguments that are not checked.
const anyObject = `{"type":"object"}`

// tool returns one tool; nil if it is left out.
func (c Config) tool(t *sdk.Tool, server string, l *link, o options) (*tool.Tool, error) {
	description := c.bounded(cmp.Or(t.Description, t.Title))
	parameters, err := inputSchema(t.InputSchema, c)
	switch {
	case err == nil:
	case c.Schemas == LeaveOut:
		return nil, nil
	case c.Schemas == OfferUnchecked:
		parameters, description = []byte(anyObject), described(description, parameters)
	default:
		return nil, fmt.Errorf("the input schema cannot be used: %w", err)
	}
	output, err := c.output(t)
	if err != nil {
		return nil, err
	}
	readOnly, declared := c.declared(t)
	remote := &remote{cfg: c, link: l, watch: o.watch, meta: o.meta,
		subject: subject{server: server, what: t.Name},
		output:  output, readOnly: readOnly}
	return tool.Raw(c.nameOf(t.Name), description, parameters, remote.call, declared...)
}

// bounded cuts a description that is too long, and says so.
func (c Config) bounded(description string) string {
	if len(description) <= c.MaxDescriptionBytes {
		return description
	}
	return fmt.Sprintf("%s… (cut: the description has %d bytes)",
		strings.ToValidUTF8(description[:c.MaxDescriptionBytes], ""), len(description))
}

// declared returns what the hints of a tool declare, if they are trusted.
func (c Config) declared(t *sdk.Tool) (readOnly bool, declared []tool.Option) {
	switch hints := t.Annotations; {
	case hints == nil || !c.TrustHints && !slices.Contains(c.TrustHintsOf, t.Name):
		return false, nil
	case hints.ReadOnlyHint:
		return true, []tool.Option{tool.ReadOnly()}
	case hints.IdempotentHint:
		return false, []tool.Option{tool.Idempotent()}
	}
	return false, nil
}

// resultLimits are the limits of results. What a server returns may be one number after another.
func resultLimits() schema.Limits {
	return schema.Limits{MaxBytes: maxMessage, MaxDepth: maxDepth, MaxValues: 10_000_000}
}

// output returns the schema that results are checked against; nil for none.
func (c Config) output(t *sdk.Tool) (*schema.Schema, error) {
	if t.OutputSchema == nil || !c.CheckResults {
		return nil, nil
	}
	raw, err := encode(t.OutputSchema)
	if err != nil {
		return nil, err
	}
	_, s, err := compiled(raw)
	if err != nil {
		return nil,
			fmt.Errorf("the output schema cannot be used (set CheckResults to false to ignore it): %w", err)
	}
	return s.WithLimits(resultLimits())
}
