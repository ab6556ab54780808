package kit_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/fault"
)

// Every cut by a real server is of class network, and every text in the table is one of a real server.
func TestEveryCutIsOfTheNetwork(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	t.Run("servers", func(t *testing.T) {
		for _, cut := range cuts() {
			t.Run(cut.name, func(t *testing.T) {
				url, client := cut.start(t)
				// A reader without a name has no second copy for net/http to repeat the request with.
				status, err := exchange(t, client, url, io.MultiReader(strings.NewReader("{}")))
				require.Error(t, err)
				assert.Equal(t, cut.midReply, status == 200, "a response came: %v", err)
				h := kit.Head{Provider: "p", Status: status}
				own, ok := errors.AsType[*kit.Error](h.Fail(t.Context(), kit.Trouble{Cause: err}))
				require.True(t, ok)
				assert.Equal(t, fault.Network, own.Class, own)
				mu.Lock()
				defer mu.Unlock()
				note(err, seen)
			})
		}
	})
	for _, text := range kit.CutTexts {
		assert.True(t, seen[text], "no server made net/http say %q: is it another text in this version of Go?", text)
	}
}

// note marks the texts of the table that an error has.
func note(err error, seen map[string]bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		if n := slices.IndexFunc(kit.CutTexts, func(text string) bool { return strings.HasPrefix(err.Error(), text) }); n >= 0 {
			seen[kit.CutTexts[n]] = true
		}
	}
}

// exchange makes a request and reads the response to its end.
func exchange(t *testing.T, client *http.Client, url string, body io.Reader) (status int, err error) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	require.NoError(t, err)
	resp, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, kit.Bounded(resp.Body))
	return resp.StatusCode, err
}

// A server with another protocol is a wrong address, which no retry puts right.
func TestAServerOfAnotherProtocol(t *testing.T) {
	const noTLSHere = "the server does not speak TLS: the address or its port is wrong"
	const wantsTLS = "the server speaks TLS: the address must begin with https"
	const refusal = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
	for name, c := range map[string]struct {
		scheme string
		serve  conn
		want   string
	}{
		"TLS alert": {"http", once("\x15\x03\x01\x00\x02\x02\x16"),
			"the server does not speak plain HTTP: the address or its port is wrong"},
		"HTTP":      {"https", noTLS("HTTP/1.1 400 Bad Request\r\n\r\n"), noTLSHere},
		"SSH":       {"https", noTLS("SSH-2.0-OpenSSH_9.9\r\n"), noTLSHere},
		"TLS of Go": {"http", once(refusal + "Client sent an HTTP request to an HTTPS server.\n"), wantsTLS},
		"TLS, nginx": {"http", once(refusal + "<html><head><title>400 The plain HTTP request was sent to HTTPS " +
			"port</title></head><body><center><h1>400 Bad Request</h1></center></body></html>"), wantsTLS},
		"TLS, Apache": {"http", once(refusal + "<p>Reason: You're speaking plain HTTP to an SSL-enabled server " +
			"port.<br />Instead use the HTTPS scheme to access this URL, please.</p>"), wantsTLS},
	} {
		t.Run(name, func(t *testing.T) {
			url, client := start(t, false, c.serve)
			h := kit.Head{Provider: "p"}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.Replace(url, "http", c.scheme, 1),
				strings.NewReader("{}"))
			require.NoError(t, err)
			resp, err := h.Send(r, client.Do)
			if err == nil {
				require.NoError(t, resp.Body.Close())
				err = errors.New("refused")
			}
			own, ok := errors.AsType[*kit.Error](h.Fail(t.Context(), kit.Trouble{Cause: err}))
			require.True(t, ok)
			assert.Equal(t, fault.Config, own.Class)
			assert.True(t, own.Failure().Final)
			assert.ErrorContains(t, own, c.want)
		})
	}
}

// The text that Go's own server answers to plain HTTP where it speaks TLS.
func TestAServerOfTLSThatIsAskedInPlainHTTP(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	resp, err := http.Post("http"+strings.TrimPrefix(s.URL, "https"), "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 400, resp.StatusCode)
	assert.True(t, kit.WantsTLS(body), "%s", body)
	assert.False(t, kit.WantsTLS([]byte(`{"error":{"message":"Invalid message: Client sent an HTTP request to an HTTPS server"}}`)))
}
