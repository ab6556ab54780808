package eino

import (
	"context"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	einoschema "github.com/cloudwego/eino/schema"
)

// Model wraps a model for graphs and flow/agent/react, which have no retry hook. It retries transport
// faults and corrects unusable answers within the call. Bind tools to the result, not to m. Use
// [Adapter.Agent] for a ChatModelAgent.
//
// A stream is read to its end before it is returned, because the whole reply is judged.
func (a *Adapter) Model(m model.ToolCallingChatModel) model.ToolCallingChatModel {
	return &chatModel{who: &speaker{a}, inner: m}
}

type chatModel struct {
	who   *speaker
	inner model.ToolCallingChatModel
	tools []*einoschema.ToolInfo
}

// WithTools binds tools to the model and to the checks.
func (m *chatModel) WithTools(tools []*einoschema.ToolInfo) (model.ToolCallingChatModel, error) {
	inner, err := m.inner.WithTools(tools)
	if err != nil {
		return nil, err
	}
	return &chatModel{who: m.who, inner: inner, tools: tools}, nil
}

// Generate asks the model until its reply can be used.
func (m *chatModel) Generate(
	ctx context.Context, in []*einoschema.Message, opts ...model.Option,
) (*einoschema.Message, error) {
	return m.ask(ctx, in, opts,
		func(in []*einoschema.Message, opts []model.Option) (*einoschema.Message, error) {
			return m.inner.Generate(ctx, in, opts...)
		})
}

// Stream is as Generate; it returns the pieces of the last reply.
func (m *chatModel) Stream(
	ctx context.Context, in []*einoschema.Message, opts ...model.Option,
) (stream, error) {
	var parts []*einoschema.Message
	_, err := m.ask(ctx, in, opts,
		func(in []*einoschema.Message, opts []model.Option) (*einoschema.Message, error) {
			pieces, err := m.inner.Stream(ctx, in, opts...)
			if err != nil {
				return nil, err
			}
			if parts, err = readAll(pieces); err != nil || len(parts) == 0 {
				return nil, err
			}
			return einoschema.ConcatMessages(parts)
		})
	if err != nil {
		return nil, err
	}
	return einoschema.StreamReaderFromArray(parts), nil
}

// ask repeats once until the run accepts the reply or ends.
func (m *chatModel) ask(
	ctx context.Context, in []*einoschema.Message, opts []model.Option,
	once func([]*einoschema.Message, []model.Option) (*einoschema.Message, error),
) (*einoschema.Message, error) {
	for {
		asked, err := m.who.before(ctx, in, m.tools, opts)
		if err != nil {
			return nil, err
		}
		out, err := once(in, asked)
		next, again, err := m.who.judge(ctx, in, out, err)
		if err != nil {
			return nil, err
		}
		if !again {
			return out, nil
		}
		in = next
	}
}

// GetType returns the type of the wrapped model.
func (m *chatModel) GetType() string {
	name, _ := components.GetType(m.inner)
	return name
}

// IsCallbacksEnabled reports whether the wrapped model calls Eino's callbacks itself.
func (m *chatModel) IsCallbacksEnabled() bool { return components.IsCallbacksEnabled(m.inner) }
