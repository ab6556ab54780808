package kittest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// broken are adapters that lack one duty each: what becomes of their requests, and of their replies.
var broken = map[string]struct {
	send func(*http.Request, http.RoundTripper) (*http.Response, error)
	say  func(loop.Request, message.Reply, error) (message.Reply, error)
	mute bool
}{
	"requests": {say: func(req loop.Request, r message.Reply, err error) (message.Reply, error) {
		if len(req.Messages) > 0 {
			req.Messages[0].Text += "!"
		}
		return r, err
	}},
	"shortened": {send: func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), "which are over", "")))
		r.ContentLength = -1
		if err != nil {
			return nil, err
		}
		return next.RoundTrip(r)
	}},
	"bounds": {mute: true},
	"replies": {say: func(_ loop.Request, r message.Reply, err error) (message.Reply, error) {
		r.Text = ""
		return r, err
	}},
	"bodies": {say: func(loop.Request, message.Reply, error) (message.Reply, error) {
		return message.Reply{Text: "Yes."}, nil
	}},
	"errors": {send: func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil && resp.StatusCode >= http.StatusInternalServerError {
			resp.Body.Close()
			r.Body, _ = r.GetBody()
			return next.RoundTrip(r) // a retry of its own
		}
		return resp, err
	}},
	"cuts": {say: func(_ loop.Request, r message.Reply, err error) (message.Reply, error) {
		if err != nil {
			err = errors.New("it failed")
		}
		return r, err
	}},
	"redirects": {send: func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		own := r.Clone(r.Context())
		own.RequestURI = ""
		resp, err := (&http.Client{Transport: next}).Do(own)
		if err == nil {
			resp.Request = r // it hides that it followed
		}
		return resp, err
	}},
	"keys": {say: func(_ loop.Request, r message.Reply, err error) (message.Reply, error) {
		if err != nil {
			err = fmt.Errorf("%w: the key was %s", err, kittest.Key)
		}
		return r, err
	}},
}

type brokenModel struct {
	*chat.Model
	say func(loop.Request, message.Reply, error) (message.Reply, error)
}

func (b brokenModel) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	r, err := b.Model.Reply(ctx, req)
	if b.say != nil {
		return b.say(req, r, err)
	}
	return r, err
}

type sender func(*http.Request) (*http.Response, error)

func (s sender) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// TestBroken tests the broken adapter that the environment names; it passes without one.
func TestBroken(t *testing.T) {
	lacks := os.Getenv("KITTEST_LACKS")
	b := broken[lacks]
	kittest.Run(t, kittest.Config{
		New: func(url string, client *http.Client) (loop.Model, error) {
			own, next := *client, client.Transport
			if b.send != nil {
				own.Transport = sender(func(r *http.Request) (*http.Response, error) { return b.send(r, next) })
			}
			m, err := chat.New(&own, chat.Config{URL: url, Key: kittest.Key, Model: "m"})
			if b.mute {
				return loop.ModelFunc(m.Reply), err
			}
			return brokenModel{m, b.say}, err
		},
		Whole: []string{`{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`},
	})
}

// Each duty is found missing: a test of adapters that cannot fail would say nothing.
func TestEveryMissingDutyIsFound(t *testing.T) {
	for duty := range broken {
		t.Run(duty, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBroken$/^"+duty+"$", "-rapid.checks=20", "-rapid.nofailfile")
			cmd.Env = append(os.Environ(), "KITTEST_LACKS="+duty)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			assert.Contains(t, string(out), "--- FAIL: TestBroken/"+duty)
		})
	}
}
