// Command hand does by hand, with the same third-party packages, what command embed does: the schema of a
// type for the model, strict decoding, rules, a raw schema, a clock, a JSON log of messages with hashes,
// and the loop. The embed has no log without a journal; the log does not make the binary larger, because
// the other packages link what it needs.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/benbjohnson/clock"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-playground/validator/v10"
	reflected "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/bench/work"
)

type said struct {
	Role string `json:"role"`
	Text string `json:"text"`
	Call string `json:"call,omitempty"`
}

var script = work.Small()

func main() {
	text, err := run(context.Background(), clock.New(), work.Validator())
	fmt.Println(text, err)
}

func run(ctx context.Context, c clock.Clock, v *validator.Validate) (string, error) {
	parameters, err := json.Marshal(reflected.Reflect(work.Booking{}))
	if err != nil {
		return "", err
	}
	slog.DebugContext(ctx, "parameters", "schema", string(parameters))
	answer, err := compile([]byte(`{"type":"string","minLength":1}`))
	if err != nil {
		return "", err
	}
	conversation := []said{{Role: "user", Text: script.Prompt}}
	for attempt := range 3 {
		reply := model(conversation)
		conversation = append(conversation, reply)
		if reply.Call == "" {
			return reply.Text, answer.Validate(reply.Text)
		}
		text, wait := call(v, reply.Call)
		if wait > 0 && attempt > 5 {
			select {
			case <-c.After(wait):
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		conversation = append(conversation, said{Role: "tool", Text: text})
		if err := record(conversation); err != nil {
			return "", err
		}
	}
	return "", errors.New("too many attempts")
}

func model(conversation []said) said {
	arguments, answer := script.Reply((len(conversation) - 1) / 2)
	return said{Role: "assistant", Text: answer, Call: arguments}
}

func call(v *validator.Validate, arguments string) (string, time.Duration) {
	var b work.Booking
	err := jsonv2.Unmarshal([]byte(arguments), &b, jsonv2.RejectUnknownMembers(true))
	if err == nil {
		err = v.Struct(b)
	}
	if err != nil {
		return err.Error(), time.Second
	}
	result, err := jsonv2.Marshal(work.Done(), jsonv2.Deterministic(true))
	return fmt.Sprintf("%s %v", result, err), 0
}

func compile(schema []byte) (*jsonschema.Schema, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///answer", tree); err != nil {
		return nil, err
	}
	return c.Compile("mem:///answer")
}

func record(conversation []said) error {
	line, err := jsonv2.Marshal(conversation)
	slog.Debug("said", "hash", fmt.Sprintf("%x", sha256.Sum256(line)))
	return err
}
