package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"

	"github.com/retake-go/retake/bench/work"
)

// This is the loop that an engineer would write for one program: without a session or history, and with a
// number of attempts as its only policy.
type (
	said struct {
		role, text, callID string
		calls              []toolCall
		failed             bool
	}
	toolCall struct{ id, name, arguments string }
	handTool func(ctx context.Context, arguments string) (string, error)
	askModel func(ctx context.Context, conversation []said) (said, error)
	// badArguments is the text about bad arguments for the model.
	badArguments struct{ text string }
)

func (e *badArguments) Error() string { return e.text }

func converse(ctx context.Context, ask askModel, tools map[string]handTool, prompt string, attempts int) (string, error) {
	conversation := []said{{role: "user", text: prompt}}
	failures := map[string]int{}
	for range 20 {
		reply, err := ask(ctx, conversation)
		if err != nil {
			return "", err
		}
		conversation = append(conversation, reply)
		if len(reply.calls) == 0 {
			return reply.text, nil
		}
		for _, c := range reply.calls {
			run, known := tools[c.name]
			if !known {
				run = func(context.Context, string) (string, error) {
					return "", &badArguments{"there is no tool " + c.name}
				}
			}
			result, err := run(ctx, c.arguments)
			var bad *badArguments
			if errors.As(err, &bad) {
				if failures[c.name]++; failures[c.name] >= attempts {
					return "", fmt.Errorf("%s after %d attempts: %w", c.name, attempts, err)
				}
				conversation = append(conversation, said{role: "tool", callID: c.id, text: bad.text, failed: true})
				continue
			}
			if err != nil {
				return "", err
			}
			conversation = append(conversation, said{role: "tool", callID: c.id, text: result})
		}
	}
	return "", errors.New("too many turns")
}

func handModel(s work.Script) askModel {
	return func(_ context.Context, conversation []said) (said, error) {
		arguments, answer := s.Reply((len(conversation) - 1) / 2)
		if answer != "" {
			return said{role: "assistant", text: answer}, nil
		}
		return said{role: "assistant", calls: []toolCall{{"c1", s.Tool, arguments}}}, nil
	}
}

// byHandWithValidator decodes arguments with a strict encoding/json and checks them with the validator.
func byHandWithValidator[A any](t testing.TB, s work.Script) func() (string, error) {
	v := work.Validator()
	tools := map[string]handTool{s.Tool: func(_ context.Context, arguments string) (string, error) {
		var a A
		if bad := decode(v, arguments, &a); bad != nil {
			return "", bad
		}
		result, err := json.Marshal(work.Done())
		return string(result), err
	}}
	model := handModel(s)
	return func() (string, error) { return converse(t.Context(), model, tools, s.Prompt, 3) }
}

func decode(v *validator.Validate, arguments string, into any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(arguments)))
	d.DisallowUnknownFields()
	var lines []string
	err := d.Decode(into)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		lines = append(lines, fmt.Sprintf("- %s: expected %s, got %s", mistyped.Field, mistyped.Type, mistyped.Value))
	case err != nil:
		return &badArguments{"the arguments are not the JSON that was asked for: " + err.Error()}
	default:
		if _, err := d.Token(); err != io.EOF {
			return &badArguments{"there is more after the arguments"}
		}
	}
	var invalid validator.ValidationErrors
	if errors.As(v.Struct(into), &invalid) {
		for _, f := range invalid {
			lines = append(lines, fmt.Sprintf("- %s: must be %s %s", f.Field(), f.Tag(), f.Param()))
		}
	}
	if lines == nil {
		return nil
	}
	return &badArguments{"The arguments cannot be used:\n" + strings.Join(lines, "\n") + "\nCall the tool again."}
}

// byHandInOnePass decodes and checks the arguments with code for this type only.
func byHandInOnePass[A any](t testing.TB, s work.Script, onePass func(string) (A, []work.Fault)) func() (string, error) {
	tools := map[string]handTool{s.Tool: func(_ context.Context, arguments string) (string, error) {
		_, faults := onePass(arguments)
		if faults != nil {
			text := "The arguments cannot be used:"
			for _, f := range faults {
				text += "\n- " + f.Where + ": " + f.Want
			}
			return "", &badArguments{text + "\nCall the tool again."}
		}
		result, err := json.Marshal(work.Done())
		return string(result), err
	}}
	model := handModel(s)
	return func() (string, error) { return converse(t.Context(), model, tools, s.Prompt, 3) }
}
