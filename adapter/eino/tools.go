package eino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/compose"
	einoschema "github.com/cloudwego/eino/schema"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	retake "github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// form calls and answers one of Eino's four kinds of tools. T is a whole result.
type form[T any] struct {
	call   func(ctx context.Context, in *compose.ToolInput) (T, error)
	answer func(text string) T
	// read returns a result for reducers, and its media.
	read func(T) (json.RawMessage, []retake.Part, error)
}

// middleware wraps all kinds of tools. It reads streams to their end: one that breaks is a failed call,
// and its pieces are not used.
func (a *Adapter) middleware() compose.ToolMiddleware {
	return compose.ToolMiddleware{
		Invokable: a.invokable, Streamable: a.streamable, EnhancedInvokable: a.enhanced,
		EnhancedStreamable: a.enhancedStreamable,
	}
}

func (a *Adapter) invokable(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
	f := form[*compose.ToolOutput]{
		call:   next,
		answer: func(text string) *compose.ToolOutput { return &compose.ToolOutput{Result: text} },
		read: func(o *compose.ToolOutput) (json.RawMessage, []retake.Part, error) {
			return plain(o.Result)
		},
	}
	return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
		return call(ctx, a, in, f)
	}
}

func (a *Adapter) streamable(next compose.StreamableToolEndpoint) compose.StreamableToolEndpoint {
	f := form[[]string]{
		call: func(ctx context.Context, in *compose.ToolInput) ([]string, error) {
			out, err := next(ctx, in)
			if err != nil {
				return nil, err
			}
			return readAll(out.Result)
		},
		answer: func(text string) []string { return []string{text} },
		read: func(parts []string) (json.RawMessage, []retake.Part, error) {
			return plain(strings.Join(parts, ""))
		},
	}
	return func(ctx context.Context, in *compose.ToolInput) (*compose.StreamToolOutput, error) {
		parts, err := call(ctx, a, in, f)
		if err != nil {
			return nil, err
		}
		return &compose.StreamToolOutput{Result: einoschema.StreamReaderFromArray(parts)}, nil
	}
}

func (a *Adapter) enhanced(next compose.EnhancedInvokableToolEndpoint) compose.EnhancedInvokableToolEndpoint {
	f := form[*compose.EnhancedInvokableToolOutput]{
		call: next,
		answer: func(text string) *compose.EnhancedInvokableToolOutput {
			return &compose.EnhancedInvokableToolOutput{Result: textResult(text)}
		},
		read: func(o *compose.EnhancedInvokableToolOutput) (json.RawMessage, []retake.Part, error) {
			return mediaOf(o.Result)
		},
	}
	return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedInvokableToolOutput, error) {
		return call(ctx, a, in, f)
	}
}

func (a *Adapter) enhancedStreamable(
	next compose.EnhancedStreamableToolEndpoint,
) compose.EnhancedStreamableToolEndpoint {
	f := form[[]*einoschema.ToolResult]{
		call: func(ctx context.Context, in *compose.ToolInput) ([]*einoschema.ToolResult, error) {
			out, err := next(ctx, in)
			if err != nil {
				return nil, err
			}
			return readAll(out.Result)
		},
		answer: func(text string) []*einoschema.ToolResult { return []*einoschema.ToolResult{textResult(text)} },
		read: func(parts []*einoschema.ToolResult) (json.RawMessage, []retake.Part, error) {
			whole, err := einoschema.ConcatToolResults(parts)
			if err != nil {
				return nil, nil, err
			}
			return mediaOf(whole)
		},
	}
	return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedStreamableToolOutput, error) {
		parts, err := call(ctx, a, in, f)
		if err != nil {
			return nil, err
		}
		return &compose.EnhancedStreamableToolOutput{Result: einoschema.StreamReaderFromArray(parts)}, nil
	}
}

// call makes one tool call under the run. A call that may not run is answered at once.
func call[T any](ctx context.Context, a *Adapter, in *compose.ToolInput, f form[T]) (T, error) {
	var none T
	r, c, err := a.claim(ctx, in.CallID, in.Name, in.Arguments)
	if err != nil {
		return none, err
	}
	if c == nil { // it was paused, and another process resumes it
		within := &scope{id: in.CallID}
		defer within.end()
		return f.call(context.WithValue(ctx, scopeKey{}, within), in)
	}
	defer r.works()()
	c.Wait(ctx)
	if text, refused, err := c.Refused(); refused || err != nil {
		return f.answer(text), err
	}
	for {
		result, out := try(ctx, r, c, in, f)
		if passed(out.Err) {
			c.Leave()
			return none, out.Err
		}
		answer, err := c.End(ctx, out)
		switch {
		case err != nil:
			return none, err
		case answer.Own:
			return result, nil
		case !answer.Again:
			return f.answer(answer.Text), nil
		}
	}
}

// try runs the tool once.
func try[T any](
	ctx context.Context, r *Run, c *turns.Call, in *compose.ToolInput, f form[T],
) (result T, out tool.Outcome) {
	out = c.Invoke(ctx, func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		checked := *in
		checked.Arguments = string(args)
		within := r.enter(ctx, in.CallID)
		var err error
		result, err = f.call(context.WithValue(ctx, scopeKey{}, within), &checked)
		if !passed(err) {
			r.leave(within)
		}
		if err != nil {
			return nil, err
		}
		doc, parts, err := f.read(result)
		if err != nil || parts == nil {
			return doc, err
		}
		return doc, tool.Attach(ctx, parts...)
	})
	return result, out
}

// claim finds the call in the current reply. A call before any reply belongs to a run that another process
// resumes: it is not watched, and c is nil.
func (a *Adapter) claim(
	ctx context.Context, id, name, arguments string,
) (run *Run, c *turns.Call, err error) {
	if run, err = a.run(ctx); err != nil {
		return nil, nil, err
	}
	c, seen := run.of.Claim(id, name, arguments)
	if c == nil && seen {
		return nil, nil, fmt.Errorf("retake: the call of %q (id %q) is in no reply that retake saw; wrap "+
			"the model with Adapter.Agent or Adapter.Model", name, id)
	}
	return run, c, nil
}

// unknownTool answers a call of a tool that Eino does not have.
func (a *Adapter) unknownTool(ctx context.Context, name, arguments string) (string, error) {
	run, c, err := a.claim(ctx, compose.GetToolCallID(ctx), name, arguments)
	if err != nil {
		return "", err
	}
	if c == nil {
		return "", fmt.Errorf("retake: there is no tool %q, and retake saw no reply", name)
	}
	defer run.works()()
	text, refused, err := c.Refused()
	if refused || err != nil {
		return text, err
	}
	// The model was offered this tool, and Eino cannot run it.
	none := fault.Issue{Rule: fault.RuleUnknownTool, Expected: "a tool that can be run",
		Source: fault.FromReply}
	answer, err := c.End(ctx, tool.Outcome{Issues: []fault.Issue{none}})
	return answer.Text, err
}

// readAll reads a stream to its end.
func readAll[T any](stream *einoschema.StreamReader[T]) ([]T, error) {
	defer stream.Close()
	var all []T
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, part)
	}
}

// plain returns a result without media.
func plain(text string) (json.RawMessage, []retake.Part, error) {
	doc, err := textJSON(text)
	return doc, nil, err
}

// textJSON returns a tool's text as JSON: unchanged if it is JSON, else as a string.
func textJSON(text string) (json.RawMessage, error) {
	var doc json.RawMessage
	if engine.Unmarshal([]byte(text), &doc) == nil {
		return doc, nil
	}
	return engine.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
}

func textResult(text string) *einoschema.ToolResult {
	return &einoschema.ToolResult{Parts: []einoschema.ToolOutputPart{{Type: einoschema.ToolPartTypeText,
		Text: text}}}
}
