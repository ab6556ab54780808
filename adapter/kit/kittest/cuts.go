package kittest

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

// cuts checks that a response which breaks is of class network, so that it is retried, in whichever way it
// breaks, streamed or not.
func cuts(t *testing.T, c Config) {
	for _, cut := range Cuts() {
		bothWays(t, cut.Name, func(t *testing.T, stream bool) {
			url, client := cut.Start(t)
			_, err := reply(t, c, url, client, plain(stream))
			f := mustFail(t, err)
			assert.Equal(t, fault.Network, f.Class, "%v: %v", err, chain(err))
			assert.False(t, f.Final)
		})
	}
	t.Run("another protocol", func(t *testing.T) { speaksOther(t, c) })
}

// speaksOther checks that a server with another protocol is a wrong address, which no retry puts right.
func speaksOther(t *testing.T, c Config) {
	const alert = "\x15\x03\x01\x00\x02\x02\x16"
	address, client := start(t, false, once(alert))
	_, err := reply(t, c, address, client, plain(false))
	isFinal(t, err)
	assert.ErrorContains(t, err, "the server does not speak plain HTTP: the address or its port is wrong")

	for _, says := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH_9.9\r\n"} {
		url, _ := start(t, false, noTLS(says))
		_, err = reply(t, c, "https"+strings.TrimPrefix(url, "http"), client, plain(false))
		isFinal(t, err)
		assert.ErrorContains(t, err, "the server does not speak TLS: the address or its port is wrong")
	}

	for name, body := range wantTLS {
		url, client := start(t, false, once("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"+body))
		_, err = reply(t, c, url, client, plain(false))
		isFinal(t, err)
		assert.ErrorContains(t, err, "the server speaks TLS: the address must begin with https", name)
	}
}

// wantTLS is what servers of TLS answer to a request over plain HTTP.
var wantTLS = map[string]string{
	"Go": "Client sent an HTTP request to an HTTPS server.\n",
	"nginx": "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head><body>" +
		"<center><h1>400 Bad Request</h1></center></body></html>",
	"Apache": "<p>Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />Instead use the HTTPS " +
		"scheme to access this URL, please.</p>",
}

// onConn calls a function once a connection for a request is found. The request's body cannot be read twice,
// so that net/http does not repeat the request.
type onConn struct {
	base http.RoundTripper
	call func()
}

func (l onConn) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { l.call() }}
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
	r.GetBody = nil
	return l.base.RoundTrip(r)
}

// chain shows the types of an error's chain.
func chain(err error) (types []string) {
	eachError(err, func(e error) { types = append(types, fmt.Sprintf("%T", e)) })
	return types
}
