package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
)

// read parses a response by what it is: JSON values, or events, as gateways send them.
func (x *exchange) read(body io.Reader) (got *received, err error) {
	if x.Form == kit.EventStream {
		got, err = x.readEvents(body)
	} else {
		got, err = x.readValues(body)
	}
	if err == nil && got.isUnasked() {
		return nil, errUnasked
	}
	return got, err
}

func (x *exchange) readEvents(body io.Reader) (*received, error) {
	got := &received{}
	_, err := kit.Events(body, func(data []byte) (bool, error) {
		err := x.take(data, got)
		return got.done, err
	})
	if err == nil && !got.done {
		err = kit.ErrEnded
	}
	return got, err
}

// readValues parses JSON values up to the one that ends the reply: one of a whole reply, a line each of a
// stream. JSON that is cut off means a broken connection, not garbage.
func (x *exchange) readValues(body io.Reader) (*received, error) {
	got, values := &received{}, json.NewDecoder(body)
	for n := 0; !got.done; n++ {
		var raw json.RawMessage
		err := values.Decode(&raw)
		_, garbage := errors.AsType[*json.SyntaxError](err)
		switch {
		case garbage:
			return nil, errNoJSON
		case n >= kit.MaxEvents:
			return nil, kit.ErrTooMany
		case errors.Is(err, io.EOF) && n > 0 && x.stream == nil:
			return nil, &kit.UnreadableError{Got: "a reply that is not done"}
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, kit.ErrEnded
		case err != nil:
			return nil, err
		}
		if err := x.take(raw, got); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// take parses one JSON value, which may be an error.
func (x *exchange) take(raw []byte, got *received) error {
	var r chatResponse
	if json.Unmarshal(raw, &r) != nil {
		return errNoJSON
	}
	if kit.IsError(r.Error) {
		return &kit.ReportedError{Body: bytes.Clone(raw)}
	}
	tell := x.stream
	if tell == nil {
		tell = func(loop.Delta) {}
	}
	got.add(r, tell)
	if r.ends() {
		got.extras.Keep(raw, "total_duration", "load_duration", "prompt_eval_duration", "eval_duration",
			"logprobs")
	}
	return nil
}
