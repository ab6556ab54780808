package kittest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// fake is an adapter to a provider with retake's own wire form: a reply as JSON, or a stream of lines with
// deltas and the reply.
type fake struct {
	url    string
	client *http.Client
}

func fakeAdapter() Config {
	return Config{
		Scripts: "testdata",
		New:     func(url string, client *http.Client) (loop.Model, error) { return &fake{url, client}, nil },
	}
}

type fakeLine struct {
	Delta *loop.Delta
	Reply *message.Reply
	Error string
}

func (f *fake) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	ask := map[string]any{"system": req.System, "messages": req.Messages, "stream": req.Stream != nil}
	var tools []string
	for _, t := range req.Tools {
		tools = append(tools, t.Name())
	}
	ask["tools"] = tools
	body, err := json.Marshal(ask)
	if err != nil {
		return message.Reply{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+"/ask", bytes.NewReader(body))
	if err != nil {
		return message.Reply{}, err
	}
	r.Header.Set("Authorization", "Bearer "+Key)
	resp, err := f.client.Do(r)
	if err != nil {
		return message.Reply{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(resp.Body)
		return message.Reply{}, refused(resp, raw)
	}
	return read(resp.Body, req.Stream)
}

func refused(resp *http.Response, raw []byte) error {
	err := fault.AsError(fault.Response{Status: resp.StatusCode, Headers: resp.Header, Body: raw})
	return &ratelimit.LimitedError{Err: err, State: ratelimit.Response{Body: raw, At: looptestEpoch}.Limits()}
}

func read(body io.Reader, stream func(loop.Delta)) (message.Reply, error) {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		var l fakeLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return message.Reply{}, err
		}
		switch {
		case l.Error != "":
			return message.Reply{}, fault.AsError(fault.Response{Message: l.Error})
		case l.Reply != nil:
			l.Reply.Usage.APICalls = 1
			return *l.Reply, nil
		case l.Delta != nil && stream != nil:
			stream(*l.Delta)
		}
	}
	if lines.Err() != nil {
		return message.Reply{}, lines.Err()
	}
	return message.Reply{}, fmt.Errorf("the stream has no reply: %w", io.ErrUnexpectedEOF)
}
