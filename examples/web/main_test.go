package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func ask(t *testing.T, model loop.ModelFunc, question string) (status int, body string) {
	server := httptest.NewServer(Handler(model))
	defer server.Close()
	resp, err := http.Post(server.URL+"/trips", "text/plain", strings.NewReader(question))
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

func TestARefusedAnswerIsTakenBack(t *testing.T) {
	status, body := ask(t, scripted, "Nine nights in Lisbon.")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, `event: delta
data: "{\"city\": \"Lisbon\","

event: delta
data: " \"nights\": 90}"

event: reset
data: ""

event: delta
data: "{\"city\": \"Lisbon\","

event: delta
data: " \"nights\": 9}"

event: done
data: {"city":"Lisbon","nights":9}

`, body)
}

func TestTheBrowserIsToldThatThereIsNoAnswer(t *testing.T) {
	_, body := ask(t, func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{Text: "I would rather not.", Finish: message.Stop}, nil
	}, "Nine nights in Lisbon.")
	assert.Contains(t, body, "event: failed\n")
	assert.NotContains(t, body, "event: done\n")
}

func TestALongQuestionIsRefused(t *testing.T) {
	status, _ := ask(t, scripted, strings.Repeat("?", maxQuestion+1))
	assert.Equal(t, http.StatusRequestEntityTooLarge, status)
}

func TestARunEndsWithItsBrowser(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := httptest.NewServer(Handler(loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		leave()
		<-ctx.Done()
		ended <- ctx.Err()
		return message.Reply{}, ctx.Err()
	})))
	defer server.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/trips", strings.NewReader("Nine nights."))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	require.ErrorIs(t, <-ended, context.Canceled)
}
