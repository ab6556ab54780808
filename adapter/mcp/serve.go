package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// ServeOption is an optional part of [Serve].
type ServeOption func(*served)

// WithLimits bounds the feedback's text; [feedback.DefaultLimits] without it.
func WithLimits(l feedback.Limits) ServeOption { return func(s *served) { s.limits = l } }

// WithContext makes f give a call its context, by the _meta of the call: for the trace context that a client
// sends as traceparent and tracestate.
func WithContext(f func(ctx context.Context, meta map[string]any) context.Context) ServeOption {
	return func(s *served) { s.within = f }
}

// WithErrors calls f with the errors that clients do not see: those that tools return of their own, their
// panics (a [fault.PanicError]), and progress that could not be sent. f may be called concurrently.
func WithErrors(f func(ctx context.Context, tool string, err error)) ServeOption {
	return func(s *served) { s.report = f }
}

// Serve adds the tools of a set to a server. The caller runs the server, which may serve other tools too. The
// result of a tool is sent as text: a string as it is, anything else as JSON. Where the type of the results
// is a struct, it is also the structured content, and the tool has an output schema that says so. Attached
// media follow as images, audio, embedded resources and links. A failure is a result with isError:
//
//	wrong arguments, ask again   the feedback's text; content {"issues": […]}, each a [fault.Issue]
//	failed for good              the tool's text
//	an error of its own          a fixed sentence; its class is in [MetaClass], and [WithErrors] gets the error
//
// The context of a call has its cancellation and the keys of [MetaIdempotencyKey] and [MetaCallID].
// [tool.Progress] becomes a progress notification if the client requested them. Progress is a number that
// grows: a growing number, or a JSON object with the members progress, total and message, is sent as it
// is. Anything else becomes the message of the next whole number. The protocol has no place for events
// that a tool emits: they are dropped. A call that needs a person's approval by what its tool declares
// ([tool.NeedsApproval], [tool.Approval]) is not run, for a server has nobody to ask.
//
// A slash in a name becomes "_". The error names all tools that cannot be served (their schema is not of
// type object); then none is added.
func Serve(server *sdk.Server, set *tool.Set, opts ...ServeOption) error {
	if server == nil {
		return errors.New("mcp: the server is nil; make one with NewServer")
	}
	base := served{limits: feedback.DefaultLimits(), report: func(context.Context, string, error) {}}
	for n, opt := range opts {
		if opt == nil {
			return fmt.Errorf("mcp: option %d is nil; leave it out", n+1)
		}
		opt(&base)
	}
	if err := base.limits.Validate(); err != nil {
		return fmt.Errorf("mcp: limits: %w", err)
	}
	if base.report == nil {
		return errors.New("mcp: WithErrors: the function is nil; set one, or leave the option out")
	}
	all, err := base.each(set)
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := one.addTo(server); err != nil {
			return err
		}
	}
	return nil
}

// each returns a copy of s for every tool of a set.
func (s served) each(set *tool.Set) ([]*served, error) {
	var all []*served
	var errs []error
	own := set.Policy(policy.Set{}).Tools
	for _, t := range set.All() {
		parameters, err := servedSchema(t)
		if err != nil {
			errs = append(errs, fmt.Errorf("mcp: tool %q: %w", t.Name(), err))
		}
		one := s
		one.tool, one.name, one.parameters = t, strings.ReplaceAll(t.Name(), "/", "_"), parameters
		if a := own[t.Name()].Approval; a != nil {
			one.approval = *a
		}
		all = append(all, &one)
	}
	return all, errors.Join(errs...)
}

// served is one tool of a set, on a server.
type served struct {
	tool       *tool.Tool
	name       string
	parameters json.RawMessage
	approval   policy.Approval
	limits     feedback.Limits
	report     func(ctx context.Context, tool string, err error)
	within     func(ctx context.Context, meta map[string]any) context.Context
}

// servedSchema returns the schema of a tool with the type that the protocol requires at its root.
func servedSchema(t *tool.Tool) (json.RawMessage, error) {
	raw := t.Parameters()
	var root map[string]json.RawMessage
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	kind, given := root["type"]
	switch {
	case !given && len(root) == 0:
		return json.RawMessage(anyObject), nil
	case !given:
		return append([]byte(`{"type":"object",`), raw[1:]...), nil
	case string(kind) != `"object"`:
		return nil, fmt.Errorf(`the type of its schema is %s, want "object"`, kind)
	}
	return raw, nil
}

// addTo adds the tool. The SDK panics on what it takes for a mistake of the program.
func (s *served) addTo(server *sdk.Server) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("mcp: tool %q: %v", s.tool.Name(), p)
		}
	}()
	served := &sdk.Tool{Name: s.name, Description: s.tool.Description(), InputSchema: s.parameters}
	if s.tool.ReturnsObject() {
		served.OutputSchema = json.RawMessage(anyObject)
	}
	if s.tool.Repeatable() {
		readOnly := s.tool.Declared() == tool.DeclaredReadOnly
		served.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: readOnly, IdempotentHint: !readOnly}
	}
	server.AddTool(served, s.call)
	return nil
}

func (s *served) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	args := req.Params.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	inv := tool.Invocation{Key: metaText(req.Params.Meta, MetaIdempotencyKey),
		CallID: metaText(req.Params.Meta, MetaCallID)}
	if token := req.Params.GetProgressToken(); token != nil {
		inv.Report = s.reporter(ctx, req.Session, token)
	}
	if s.within != nil {
		ctx = s.within(ctx, req.Params.Meta)
	}
	if s.needsApproval(args) && len(s.tool.Check(args)) == 0 {
		return resultOf(outcomeFailed, notApproved), nil
	}
	out := s.tool.Invoke(tool.WithInvocation(ctx, inv), args)
	out.InDoubt = out.InDoubt && s.tool.Declared() != tool.DeclaredReadOnly
	r := s.result(ctx, out)
	if out.InDoubt {
		r.Meta[MetaInDoubt] = true
	}
	return r, nil
}

// notApproved is the text for a call that a run would put to a person.
const notApproved = "Not run: this call needs a person's approval, and nobody can be asked here."

// needsApproval reports whether a call would wait for a person in a run of which nobody has approved a call.
func (s *served) needsApproval(args []byte) bool {
	return s.approval.Needs(policy.ApprovalCall{Declared: s.tool.NeedsApproval(args), Repeatable: s.tool.Repeatable(),
		Exceeds: s.approval.Exceeds(args)}) != ""
}

func (s *served) result(ctx context.Context, out tool.Outcome) *sdk.CallToolResult {
	switch {
	case out.Err != nil:
		return s.broke(ctx, out)
	case len(out.Issues) > 0:
		r := resultOf(outcomeAskAgain, s.render(out.Issues))
		r.StructuredContent = issueList{out.Issues}
		return r
	case out.Failed != "":
		return failure(out)
	}
	var text string
	r := resultOf(outcomeDone, string(out.Result))
	switch {
	case strings.HasPrefix(string(out.Result), `"`) && json.Unmarshal(out.Result, &text) == nil:
		r = resultOf(outcomeText, text)
	case s.tool.ReturnsObject():
		r.StructuredContent = json.RawMessage(out.Result)
	}
	return withParts(r, out)
}

func withParts(r *sdk.CallToolResult, out tool.Outcome) *sdk.CallToolResult {
	for n, p := range out.Parts {
		r.Content = append(r.Content, contentOf(n, p))
	}
	return r
}

// failure returns the result of a tool that said why it failed.
func failure(out tool.Outcome) *sdk.CallToolResult {
	r := resultOf(outcomeFailed, out.Failed)
	if out.InDoubt {
		r = resultOf(outcomeInDoubt, brokeInDoubt)
		r.Content = append(r.Content, &sdk.TextContent{Text: out.Failed})
	}
	if out.Whole {
		r.Meta[MetaWhole] = true
	}
	return withParts(r, out)
}

func resultOf(outcome, text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Meta: sdk.Meta{MetaOutcome: outcome}, Content: []sdk.Content{&sdk.TextContent{Text: text}},
		IsError: outcome != outcomeDone && outcome != outcomeText,
	}
}

// render returns the text of feedback. A server does not know how often the model has tried, so the text
// has no attempt.
func (s *served) render(issues []fault.Issue) string {
	fb := feedback.New(feedback.Input{
		Tool: s.name, Attempt: 1, MaxAttempts: -1, Class: fault.ToolValidation,
		Issues: issues, Scheduled: true,
	})
	return strings.Replace(feedback.Render(fb, s.limits), " (attempt 1)", "", 1)
}

// The texts for a tool that returned an error of its own.
const (
	brokeInDoubt = "The call failed, and its effect may or may not have happened."
	// brokeReading is brokeInDoubt of a tool that is declared read-only.
	brokeReading = "The call failed."
	brokeForNow  = "Not done: the tool is not ready for this call. The same call may help later."
	// brokeHalfway is brokeForNow of a call that is in doubt.
	brokeHalfway = "The tool is not ready for this call, and its effect may or may not have happened. " +
		"The same call may help later."
)

func (s *served) broke(ctx context.Context, out tool.Outcome) *sdk.CallToolResult {
	s.report(ctx, s.tool.Name(), out.Err)
	if later, ok := out.Later(); ok {
		r := resultOf(outcomeLater, brokeForNow)
		if out.InDoubt {
			r = resultOf(outcomeLater, brokeHalfway)
		}
		r.Meta[MetaRetryAfter] = max(later.After, 0).Milliseconds()
		return r
	}
	r := resultOf(outcomeBroke, brokeInDoubt)
	if s.tool.Declared() == tool.DeclaredReadOnly {
		r = resultOf(outcomeBroke, brokeReading)
	}
	r.Meta[MetaClass] = string(out.Failure().Class)
	return r
}
