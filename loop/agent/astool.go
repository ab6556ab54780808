package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// task is the schema of the arguments of an agent that is a tool.
const task = `{"type": "object", "properties": {"task": {"type": "string", "minLength": 1,
	"description": "What is to be done, with all that the agent needs to know. It sees nothing else."}},
	"required": ["task"], "additionalProperties": false}`

// AsTool makes a tool of an agent: a call gives a model a task and returns its answer, as a text, or as JSON
// if cfg has an Output. The run belongs to the one around it: see [loop.Loop.Within]. After a crash the call
// is made again, and the agent goes on where it was.
//
// If the agent comes to no answer, the call has failed for good. The outer model is told why, which tools
// of the agent gave a result, which failed, and which calls are in doubt. If calls of the agent are in
// doubt, so is its own, with an answer or without one. The tool is declared [tool.ReadOnly] if all tools of
// the agent are, else [tool.Idempotent].
//
// The error is that of [tool.Raw] or [loop.New], or says that cfg makes calls the answer, which nobody would
// run.
func AsTool(
	name, description string, model loop.Model, cfg loop.Config, opts ...loop.Option,
) (*tool.Tool, error) {
	return asTool(name, description, model, cfg, opts)
}

// Handoff is [AsTool] for an agent that answers the user: its answer is that of the run around it, whose
// model is not asked again. If the agent comes to no answer, the call has failed as a tool fails, and the
// model goes on. See [tool.Answers] for when the answer does not end the run.
func Handoff(
	name, description string, model loop.Model, cfg loop.Config, opts ...loop.Option,
) (*tool.Tool, error) {
	return asTool(name, description, model, cfg, opts, tool.Answers())
}

// asTool makes a tool of an agent, with further declarations.
func asTool(
	name, description string, model loop.Model, cfg loop.Config, opts []loop.Option, more ...tool.Option,
) (*tool.Tool, error) {
	l, err := loop.New(model, cfg, opts...)
	if cfg.CallsOnly {
		err = errors.New("calls_only: nobody runs the calls of an agent that is a tool: leave it out")
	}
	if err != nil {
		return nil, fmt.Errorf("agent %q: %w", name, err)
	}
	return ToolOf(name, description, cfg.Tools, func(ctx context.Context, task string) (loop.Result, error) {
		return l.Within(ctx, loop.Input{Prompt: task})
	}, more...)
}

// ToolOf is [AsTool] for engines that make the run themselves. tools are those of the agent, for what its
// calls are declared; nil means none. work makes the run for a task and returns what [loop.Loop.Within] does,
// after it has added what the run consumed and left in doubt: see [tool.AddUsage], [tool.AddCost] and
// [tool.Doubt].
func ToolOf(
	name, description string, tools *tool.Set,
	work func(ctx context.Context, task string) (loop.Result, error), opts ...tool.Option,
) (*tool.Tool, error) {
	run := func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		var given struct {
			Task string `json:"task"`
		}
		if err := canon.Unmarshal(args, &given); err != nil {
			return nil, err
		}
		r, err := work(ctx, given.Task)
		if err != nil {
			return nil, toldOf(&r, err)
		}
		r.Degraded = false // the text is all there is
		return dataOf(r), nil
	}
	// A call that took too long is not made again: its run has ended.
	once := tool.WithTransport(policy.Layer{RetryableErrors: []fault.Class{fault.Unavailable}})
	return tool.Raw(name, description, []byte(task), run, append(opts, declared(tools), once)...)
}

// declared returns what an agent with these tools is declared as.
func declared(tools *tool.Set) tool.Option {
	for _, t := range tools.All() {
		if t.Declared() != tool.DeclaredReadOnly {
			return tool.Idempotent()
		}
	}
	return tool.ReadOnly()
}

// toldOf returns the error of a call whose agent has no answer.
func toldOf(r *loop.Result, err error) error {
	if x, ok := errors.AsType[*loop.RetryExhaustedError](err); ok { // whatever it wraps is of runs within
		return errors.Join(&tool.FailedError{Text: accountOf(r.Transcript, x), Whole: true}, err)
	}
	held, ok := errors.AsType[*journal.ConflictError](err)
	switch {
	case ok && held.Want == held.Found:
		return tool.TryLater(err, 0)
	case errors.Is(err, loop.ErrTooDeep):
		return tool.Fail("Not done: agents may not be nested deeper.")
	}
	return err
}

// maxNamed is how many tools of a kind are named.
const maxNamed = 16

// accountOf says what a run without an answer has done. It has no text of an error.
func accountOf(said []message.Message, x *loop.RetryExhaustedError) string {
	words := []string{"The agent came to no answer: " + x.Reason.Phrase() + "."}
	var ran, failed []string
	for n := range said {
		if m := &said[n]; m.Role == message.Tool && !m.IsError {
			ran = append(ran, m.Name)
		}
	}
	for _, a := range x.Attempts { // calls in a text are answered in a text
		if a.Action != "" && a.Plane == fault.Correction && a.Passed() {
			ran = append(ran, a.Action)
		}
	}
	for _, f := range x.ToolFailures {
		failed = append(failed, f.Tool)
	}
	doubt := make([]string, len(x.InDoubt))
	for n, c := range x.InDoubt {
		doubt[n] = c.Tool
	}
	for _, group := range []struct {
		title string
		tools []string
	}{{"Its tools gave results", ran}, {"Failed", failed}, {"May or may not have had an effect", doubt}} {
		if names := named(group.tools); names != "" {
			words = append(words, group.title+": "+names+".")
		}
	}
	if len(words) == 1 {
		words = append(words, "None of its tools gave a result.")
	}
	return strings.Join(words, " ")
}

// named lists names, each once.
func named(all []string) string {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if more := len(all) - maxNamed; more > 0 {
		all = append(all[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
