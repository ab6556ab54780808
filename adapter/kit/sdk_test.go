package kit_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
)

// sdk is an SDK with a client of configuration C.
type sdk[C any] struct {
	cfg C
	// sends carries out a request by its configuration, after all options.
	sends func(C, *http.Request) (*http.Response, error)
}

// option is that of an SDK, with its middleware.
type option[C any] interface{ Apply(*C) error }

type optionFunc[C any] func(*C) error

func (o optionFunc[C]) Apply(cfg *C) error { return o(cfg) }

type middleware = func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)

type watching[C any] struct{ middleware }

func (watching[C]) Apply(*C) error { return nil }

func with[C any](all ...middleware) option[C] { return watching[C]{all[0]} }

func (s sdk[C]) Post(ctx context.Context, path string, _, res any, opts ...option[C]) error {
	cfg := s.cfg
	for _, o := range opts {
		if err := o.Apply(&cfg); err != nil {
			return err
		}
	}
	next := func(r *http.Request) (*http.Response, error) { return s.sends(cfg, r) }
	for _, o := range opts {
		if w, ok := o.(watching[C]); ok {
			inner := next
			next = func(r *http.Request) (*http.Response, error) { return w.middleware(r, inner) }
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.test/"+path, nil)
	if err != nil {
		return err
	}
	got, err := next(r)
	if err == nil && ctx.Err() != nil {
		return ctx.Err() // the body stays open
	}
	*res.(**http.Response) = got
	return err
}

// sendBy makes what sends by an SDK.
func sendBy[C any](s sdk[C]) (kit.Send, string) {
	return kit.SendBy(s.Post, with[C], option[C](optionFunc[C](func(*C) error { return nil })))
}

type addressed struct{ BaseURL, DefaultBaseURL *url.URL }

func TestAnAddressIsReadFromAnSDK(t *testing.T) {
	own, err := url.Parse("https://own.example/v1")
	require.NoError(t, err)
	other, err := url.Parse("https://other.example/v1")
	require.NoError(t, err)
	for want, cfg := range map[string]addressed{
		"": {}, "https://own.example/v1": {DefaultBaseURL: own}, "https://other.example/v1": {BaseURL: other, DefaultBaseURL: own},
	} {
		_, address := sendBy(sdk[addressed]{cfg: cfg}) // it would panic if it sent
		assert.Equal(t, want, address)
	}
	_, address := sendBy(sdk[struct{}]{})
	assert.Empty(t, address)
}

type guardable struct{ HTTPClient *http.Client }

func TestAnSDKWhoseClientCannotBeGuardedIsRefused(t *testing.T) {
	own := &http.Client{}
	var used *http.Client
	send, _ := sendBy(sdk[guardable]{guardable{own}, func(cfg guardable, r *http.Request) (*http.Response, error) {
		used = cfg.HTTPClient
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	}})
	head := &kit.Head{}
	resp, err := send(t.Context(), head, "v1/messages", nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, []any{http.StatusOK, kit.JSON, "api.test"}, []any{head.Status, head.Form, head.Host})
	assert.Nil(t, own.CheckRedirect, "the user's own client is as it was")
	assert.NotNil(t, used.CheckRedirect)

	send, _ = sendBy(sdk[addressed]{})
	_, err = send(t.Context(), head, "", nil)
	assert.ErrorContains(t, err, "has no field HTTPClient")
}

// An SDK that returns without the response that came leaves its body open.
func TestAResponseThatAnSDKDropsIsClosed(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	body := &noticing{Reader: strings.NewReader("{}")}
	send, _ := sendBy(sdk[guardable]{sends: func(_ guardable, r *http.Request) (*http.Response, error) {
		leave()
		return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
	}})
	_, err := send(ctx, &kit.Head{}, "", nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.True(t, body.closed)
}

type noticing struct {
	io.Reader
	closed bool
}

func (n *noticing) Close() error {
	n.closed = true
	return nil
}
