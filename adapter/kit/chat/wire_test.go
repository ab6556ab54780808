package chat_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
)

// scripts are those of the adapter with the SDK.
const scripts = "../../openai/testdata/"

// newModel makes a model of an address. Its requests have the one header of the SDK that the scripts show.
func newModel(cfg chat.Config) func(string, *http.Client) (loop.Model, error) {
	return func(url string, c *http.Client) (loop.Model, error) {
		own, next := *c, cmp.Or(c.Transport, http.DefaultTransport)
		own.Transport = send(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("X-Stainless-Retry-Count", "0")
			return next.RoundTrip(r)
		})
		cfg.URL, cfg.Key = url+"/v1", kittest.Key
		return chat.New(&own, cfg)
	}
}

// over makes a model of an address.
func over(url string, c *http.Client, cfg chat.Config) (loop.Model, error) {
	return newModel(cfg)(url, c)
}

type send func(*http.Request) (*http.Response, error)

func (s send) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

func overChat(cfg chat.Config) kittest.Config {
	const done = "data: [DONE]\n\n"
	_, whole, _ := strings.Cut(chatSays, "\n\n")
	return kittest.Config{
		New:   newModel(cfg),
		Whole: []string{whole}, Streams: []string{
			"data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\n" + done,
			"data: " + whole + "\n\n" + done, // whole in an event
		},
		Keys: keys, Accepts: chatAccepts, Scripts: scripts + "chat",
	}
}

func overResponses(cfg chat.Config) kittest.Config {
	cfg.API = chat.Responses
	_, whole, _ := strings.Cut(responsesSays, "\n\n")
	return kittest.Config{
		New:   newModel(cfg),
		Whole: []string{whole}, Streams: []string{
			`data: {"type":"response.output_text.delta","output_index":0,"delta":"Yes."}` + "\n\n" +
				`data: {"type":"response.completed","response":` + whole + "}\n\n",
			"data: " + whole + "\n\ndata: [DONE]\n\n",
		},
		Keys: keys, Accepts: responsesAccepts, Scripts: scripts + "responses",
	}
}

func TestChat(t *testing.T) { kittest.Run(t, overChat(chat.Config{Model: "gpt-4.1"})) }

func TestResponses(t *testing.T) {
	kittest.Run(t, overResponses(chat.Config{Model: "gpt-5", Effort: "low"}))
}

// Observers are told the address of a server that refused a call.
func TestARefusalHasItsSource(t *testing.T) {
	s := kittest.Serve(t, "401 Unauthorized\n\n")
	m, err := overChat(chat.Config{Model: "gpt-4.1"}).New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := m.Reply(t.Context(), kittest.Asks()["plain"])
	require.Error(t, err)
	assert.Equal(t, "127.0.0.1", reply.Source.Host)
}
