package fault_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

// A server that does not speak TLS is not the one that was meant: each request fails like the first. The
// errors are those of Go's own client.
func TestAServerOfAnotherProtocolIsAWrongAddress(t *testing.T) {
	t.Parallel()
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = mail.Close() })
	go func() {
		for {
			c, err := mail.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail.example ESMTP ready\r\n"))
			_ = c.Close()
		}
	}()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)

	_, sent := http.Get("https://" + mail.Addr().String())
	_, mismatch := http.Get("https://" + plain.Listener.Addr().String())
	_, bare := tls.Dial("tcp", mail.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	for name, err := range map[string]error{"in url.Error": sent, "plain HTTP": mismatch, "bare": bare, "wrapped": fmt.Errorf("ask: %w", bare)} {
		require.Error(t, err, name)
		v := fault.ClassifyError(err)
		assert.Equal(t, fault.Config, v.Class, "%s: %T %v", name, err, err)
		assert.False(t, v.Retryable, name)
		assert.Contains(t, v.Message, "the address or its port is wrong", name)
		assert.Equal(t, fault.Config, fault.TryRules{}.Failure(err).Class, name)
	}
	later := tls.RecordHeaderError{Msg: "received record with version 2a2a when expecting version 303"}
	assert.Equal(t, fault.Network, fault.ClassifyError(later).Class, "a connection that broke is made again")
}
