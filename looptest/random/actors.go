package random

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// run identifies one run of a tool's function that an engine may ask for.
type run struct {
	Key       string
	Transport int
}

// tools makes the tools of the case; nil if it has none.
func (w *World) tools() (*tool.Set, error) {
	if len(w.Case.Tools) == 0 {
		return nil, nil
	}
	var all []*tool.Tool
	for n := range w.Case.Tools {
		t, err := w.tool(&w.Case.Tools[n])
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return tool.NewSet(all...)
}

func (w *World) tool(t *toolCase) (*tool.Tool, error) {
	note := `{"type":"string"}`
	if t.Secret {
		note = `{"type":"string","x-secret":true}`
	}
	parameters := fmt.Sprintf(`{"type":"object","properties":{`+
		`"do":{"type":"integer","minimum":0,"maximum":%d},"note":%s},`+
		`"required":["do"],"additionalProperties":false}`, len(t.Plays)-1, note)
	opts := declared(t.Declared)
	if !t.Policy.IsZero() {
		opts = append(opts, tool.WithPolicy(t.Policy))
	}
	if !t.Transport.IsZero() {
		opts = append(opts, tool.WithTransport(t.Transport))
	}
	do := func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		return w.do(ctx, t, arguments)
	}
	return tool.Raw(t.Name, "Does "+t.Name+".", []byte(parameters), do, opts...)
}

// declared returns the option that makes a tool say of its calls what d says.
func declared(d tool.Declared) []tool.Option {
	switch d {
	case tool.DeclaredReadOnly:
		return []tool.Option{tool.ReadOnly()}
	case tool.DeclaredIdempotent:
		return []tool.Option{tool.Idempotent()}
	}
	return nil
}

// do is the function of a tool. What it does depends on its arguments and on the attempt of the call alone.
func (w *World) do(ctx context.Context, t *toolCase, arguments json.RawMessage) (json.RawMessage, error) {
	_, _, transport := tool.Attempt(ctx)
	if t.Declared == "" {
		w.mu.Lock()
		w.runs[run{tool.IdempotencyKey(ctx), transport}]++
		w.mu.Unlock()
	}
	var args struct{ Do json.Number }
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, err
	}
	at, err := args.Do.Float64() // 1e0 is an integer, too
	if err != nil {
		return nil, err
	}
	o := &outcome{Kind: returns, Result: json.RawMessage(`"at last"`)}
	if play := t.Plays[int(at)]; transport <= len(play) {
		o = &play[max(transport, 1)-1]
	}
	for _, p := range o.Progress {
		if err := tool.Progress(ctx, p); err != nil {
			return nil, err
		}
	}
	for _, e := range o.Emits {
		if err := tool.Emit(ctx, e.Name, e.Payload); err != nil {
			return nil, err
		}
	}
	if o.Attaches {
		if err := tool.Attach(ctx, message.Bytes(message.ImagePart, "image/png", []byte(t.Name))); err != nil {
			return nil, err
		}
	}
	if o.Agent != nil {
		return w.nest(ctx, o.Agent)
	}
	switch o.Kind {
	case cancels:
		return nil, w.cancelled(ctx)
	case hangs:
		if err := w.hang(ctx); err != nil {
			return nil, err
		}
	}
	return o.end(t.Name)
}

// end ends a call of a tool.
func (o *outcome) end(name string) (json.RawMessage, error) {
	switch o.Kind {
	case asksAgain:
		return nil, tool.AskAgain(fault.Issue{Pointer: "/note", Rule: "tool",
			Expected: cmp.Or(o.Text, "another note"), Source: fault.FromTool})
	case fails:
		return nil, tool.Fail(o.Text)
	case triesLater:
		return nil, tool.TryLater(errors.New(o.Text), o.After)
	case breaks:
		return nil, o.Fault.Err()
	case breaksInside:
		return nil, fmt.Errorf("the agent inside %s: %w", name, gaveUp(cmp.Or(o.Text, "text")))
	case panics:
		panic("boom in " + name)
	case unknown:
		return nil, tool.ErrUnknown
	}
	return o.Result, nil
}

// gaveUp is the error of a loop that gave up on wrong arguments.
func gaveUp(expected string) error {
	wrong := &fault.ToolValidationError{Tool: "inner",
		Issues: []fault.Issue{{Rule: "type", Expected: expected, Source: fault.FromSchema}}}
	return &loop.RetryExhaustedError{
		Action: "inner", Attempt: 1, MaxAttempts: 1, Plane: fault.Correction, Reason: policy.ReasonAttemptsExhausted,
		Cause: wrong, Failure: fault.FailureOf(wrong),
	}
}

// session declares the slices and reducers of the case.
func (w *World) session() session.Config {
	cfg := session.Config{ID: fmt.Sprintf("case-%d", w.Case.Seed)}
	declared := map[string]session.Slice[json.RawMessage]{}
	for _, s := range w.Case.Slices {
		slice := session.StateSlice[json.RawMessage](s.Name)
		if s.Kind == session.KindLog {
			slice = session.LogSlice[json.RawMessage](s.Name)
		}
		declared[s.Name], cfg.Slices = slice, append(cfg.Slices, slice)
	}
	for n := range w.Case.Reducers {
		r := &w.Case.Reducers[n]
		cfg.Reducers = append(cfg.Reducers, session.On(declared[r.Slice], r.On, r.Name, r.reduce))
	}
	return cfg
}

func (r *reducerCase) reduce(
	_ reducer.View[json.RawMessage], payload json.RawMessage,
) (reducer.Change[json.RawMessage], error) {
	switch {
	case !bytes.Contains(payload, []byte(r.When)):
		return reducer.None[json.RawMessage](), nil
	case r.Refuses != "":
		return reducer.None[json.RawMessage](), errors.New(r.Refuses)
	case r.Panics != "":
		panic(r.Panics)
	}
	switch r.Do {
	case reducer.OpAppend:
		return reducer.Append(payload), nil
	case reducer.OpReplace:
		return reducer.Replace(payload), nil
	case reducer.OpClear:
		return reducer.Clear[json.RawMessage](), nil
	}
	return reducer.None[json.RawMessage](), nil
}
