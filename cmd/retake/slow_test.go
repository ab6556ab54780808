package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

// slowly is a server of the console whose patience is short.
func slowly(t *testing.T) (address, token string) {
	t.Helper()
	token = console.NewToken()
	c, err := console.New(console.Settings{Stores: []console.Named{{Store: journal.Dir(t.TempDir())}}, Token: token})
	require.NoError(t, err)
	server := httptest.NewServer(patient(c, 100*time.Millisecond))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), token
}

// Who sends a request and then nothing of its body holds no connection, with the token or without.
func TestABodyThatNeverComesHoldsNoConnection(t *testing.T) {
	address, token := slowly(t)
	for _, target := range []string{"/answer", "/answer?token=" + token, "/"} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nid=", target, address)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		text, err := io.ReadAll(conn)
		require.NoError(t, err, "the server has closed it")
		assert.Contains(t, string(text), "HTTP/1.1 4", target)
	}
}

// Who takes nothing of what is written holds no connection either: the goroutine of its handler ends.
func TestAReaderWhoTakesNothingHoldsNoConnection(t *testing.T) {
	ended := make(chan struct{})
	server := httptest.NewServer(patient(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for text := make([]byte, 1<<20); ; {
			if _, err := w.Write(text); err != nil {
				return
			}
		}
	}), 100*time.Millisecond))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-ended
}

// A stream that is read lives on, however long that is beside the patience of the server, and so does its
// connection.
func TestAStreamOutlivesThePatienceOfTheServer(t *testing.T) {
	address, token := slowly(t)
	r, err := http.Get("http://" + address + "/events?" + url.Values{"token": {token}}.Encode())
	require.NoError(t, err)
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	for seen := 0; seen < 2; { // the second comes five seconds after the first
		require.True(t, lines.Scan(), "%v", lines.Err())
		if strings.HasPrefix(lines.Text(), "data: ") {
			seen++
		}
	}
}
