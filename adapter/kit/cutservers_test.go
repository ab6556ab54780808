package kit_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// breaks is a server that breaks the connection, the stream or the body of its response.
type breaks struct {
	// name says how.
	name string
	// midReply is set if the status and the headers came.
	midReply bool
	// start starts the server. Each call starts another one.
	start func(t testing.TB) (url string, client *http.Client)
}

// conn serves a connection, whose first bytes may have been read.
type conn func(net.Conn, *bufio.Reader)

// cuts returns the ways to break a response that a client of net/http may meet over HTTP/1.1, HTTP/2 and TLS.
func cuts() []breaks {
	var all []breaks
	for name, says := range plainCuts() {
		all = append(all, breaks{"HTTP/1.1 " + name, strings.Contains(says, "\r\n\r\n"), plainly(once(says))})
	}
	for name, after := range tlsCuts {
		all = append(all, breaks{"TLS " + name, true, overTLS(func(c net.Conn, r *bufio.Reader) {
			once(begins)(c, r)
			_, _ = io.WriteString(c.(*tls.Conn).NetConn(), after)
		})})
	}
	all = append(all, breaks{"HTTP/1.1 reset", true, plainly(func(c net.Conn, r *bufio.Reader) {
		once(begins)(c, r)
		_ = c.(*net.TCPConn).SetLinger(0)
	})}, breaks{"HTTP/1.1 idle", false, closesIdle})
	for code := range uint32(14) { // all that RFC 9113 has
		all = append(all, framed(fmt.Sprintf("reset %d", code), true, func(stream uint32) []byte {
			return slice(begun(stream), frame(rstStream, 0, stream, number(code)))
		}), framed(fmt.Sprintf("goaway %d", code), true, func(stream uint32) []byte {
			return slice(begun(stream), frame(goAway, 0, 0, number(stream), number(code),
				[]byte("rate limit exceeded")))
		}), framed(fmt.Sprintf("goaway %d before the reply", code), false, func(stream uint32) []byte {
			return frame(goAway, 0, 0, number(stream), number(code), []byte("bye"))
		}))
	}
	for _, code := range []uint32{2, 8, 11} { // net/http repeats the request by itself for some others
		all = append(all, framed(fmt.Sprintf("reset %d before the reply", code), false,
			func(stream uint32) []byte {
				return frame(rstStream, 0, stream, number(code))
			}))
	}
	return append(all,
		framed("closed", true, begun), framed("closed before the reply", false,
			func(uint32) []byte { return nil }),
		framed("bad frame", true, func(stream uint32) []byte {
			return slice(begun(stream), frame(rstStream, 0, stream, []byte{1}))
		}),
		framed("too long", true, func(stream uint32) []byte {
			return slice(frame(headers, endHeaders, stream, []byte("\x88\x0f\x0d\x011")),
				frame(data, endStream, stream, []byte("{}")))
		}),
		breaks{"HTTP/2 lost", false, losesPings}, breaks{"HTTP/2 refused", false, refuses})
}

const (
	head   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	begins = head + "Content-Length: 99\r\n\r\n{"
)

// plainCuts are responses of a server that then closes the connection.
func plainCuts() map[string]string {
	const chunked = head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, `{"a":"`+strings.Repeat("b", 200)+`"}`)
	_ = z.Close()
	corrupt, checksum := bytes.Clone(zipped.Bytes()), bytes.Clone(zipped.Bytes())
	corrupt[10] = 0xff
	checksum[len(checksum)-5] ^= 0xff
	asGzip := func(body []byte) string {
		return fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	return map[string]string{
		"closed before the reply": "", "closed in the head": "HTTP/1.1 200 OK\r\nContent-Type:",
		"closed in the body": head + "Content-Length: 9\r\n\r\n{",
		"no HTTP":            "SSH-2.0-OpenSSH_9.9\r\n", "closed between chunks": chunked,
		"closed in a chunk": chunked + "9\r\n\"", "no end of a chunk": chunked + "1\r\n}}}",
		"no number": chunked + "z\r\n", "no length": chunked + "\r\n",
		"long length": chunked + strings.Repeat("f", 17) + "\r\n",
		"bare LF":     chunked + "1\n}", "CR in a line": chunked + "1\r1\r\n",
		"long line":             chunked + "1;" + strings.Repeat("x", 9000) + "\r\n",
		"non-data":              chunked + strings.Repeat("1;"+strings.Repeat("x", 3000)+"\r\n \r\n", 9),
		"closed in the trailer": chunked + "0\r\n",
		"long trailer":          chunked + "0\r\n" + strings.Repeat("X: "+strings.Repeat("x", 3000)+"\r\n", 9),
		"corrupt flate":         asGzip(corrupt), "bad checksum": asGzip(checksum),
		"cut gzip": asGzip(zipped.Bytes()[:20]),
	}
}

// tlsCuts is what a server writes below TLS in mid reply, before it closes the connection.
var tlsCuts = map[string]string{
	"closed": "", "bad record MAC": "\x17\x03\x03\x00\x20" + strings.Repeat("x", 32),
	"no record":       strings.Repeat("HTTP", 9),
	"another version": "\x17\x01\x01\x00\x20" + strings.Repeat("x", 32),
}

// plainly starts a server without TLS, and overTLS one with it, for the protocols.
func plainly(serve conn) func(testing.TB) (string, *http.Client) {
	return func(t testing.TB) (string, *http.Client) { return start(t, false, serve) }
}

func overTLS(serve conn, protocols ...string) func(testing.TB) (string, *http.Client) {
	return func(t testing.TB) (string, *http.Client) { return start(t, true, serve, protocols...) }
}

// start serves every connection by a function, and closes it then.
func start(t testing.TB, secure bool, serve conn, protocols ...string) (string, *http.Client) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	scheme, transport := "http://", &http.Transport{ForceAttemptHTTP2: len(protocols) > 0}
	if secure {
		var server *tls.Config
		server, transport.TLSClientConfig = certificates()
		server.NextProtos = protocols
		scheme, listener = "https://", tls.NewListener(listener, server)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer closeBelow(c)
				serve(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		transport.CloseIdleConnections()
		open.Wait()
	})
	return scheme + listener.Addr().String(), &http.Client{Transport: transport}
}

// closeBelow closes a connection without the farewell of TLS.
func closeBelow(c net.Conn) {
	if secure, isTLS := c.(*tls.Conn); isTLS {
		c = secure.NetConn()
	}
	_ = c.Close()
}

// certificates returns what a server on loopback and its client need.
var certificates = sync.OnceValues(func() (server, client *tls.Config) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(s.Certificate())
	return s.TLS, &tls.Config{RootCAs: trusted}
})

// once reads one request of HTTP/1.1 and writes raw bytes.
func once(says string) conn {
	return func(c net.Conn, r *bufio.Reader) {
		if request, err := http.ReadRequest(r); err == nil {
			_, _ = io.Copy(io.Discard, request.Body)
			_, _ = io.WriteString(c, says)
		}
	}
}

// noTLS serves a connection that begins with TLS by raw bytes.
func noTLS(says string) conn {
	return func(c net.Conn, r *bufio.Reader) {
		_, _ = r.Peek(1)
		_, _ = io.WriteString(c, says)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, r)
	}
}

// closesIdle is a server that closes a connection just when the client takes it for a second request, which
// the server never sees.
func closesIdle(t testing.TB) (string, *http.Client) {
	leave := make(chan struct{}, 1)
	url, client := start(t, false, func(c net.Conn, r *bufio.Reader) {
		once(head+"Content-Length: 2\r\n\r\n{}")(c, r)
		<-leave
	})
	closed := make(chan struct{}, 1)
	transport := client.Transport.(*http.Transport)
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return &noticed{c, closed}, err
	}
	first, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, first.Body)
	_ = first.Body.Close()
	return url, &http.Client{Transport: onConn{transport, func() {
		leave <- struct{}{}
		<-closed
	}}}
}

// noticed tells when a connection is closed.
type noticed struct {
	net.Conn
	closed chan<- struct{}
}

func (n *noticed) Close() error {
	err := n.Conn.Close()
	select {
	case n.closed <- struct{}{}:
	default:
	}
	return err
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

// framed is a server of HTTP/2 that answers a request with raw frames and closes the connection.
func framed(name string, midReply bool, says func(stream uint32) []byte) breaks {
	return breaks{"HTTP/2 " + name, midReply,
		overTLS(func(c net.Conn, r *bufio.Reader) { answerFrames(c, r, says) }, "h2")}
}

// losesPings is a server of HTTP/2 that falls silent once it has read the request, and leaves the client's
// pings without an answer.
func losesPings(t testing.TB) (string, *http.Client) {
	url, client := start(t, true, func(c net.Conn, r *bufio.Reader) {
		answerFrames(c, r, func(uint32) []byte { return nil })
		_, _ = io.Copy(io.Discard, r) // until the client leaves
	}, "h2")
	client.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Millisecond,
		PingTimeout: 200 * time.Millisecond}
	return url, client
}

// refuses is a server of HTTP/2 that says of its first connection that it did not read the request, and
// closes the second one.
func refuses(t testing.TB) (string, *http.Client) {
	var before atomic.Bool
	return start(t, true, func(c net.Conn, r *bufio.Reader) {
		answerFrames(c, r, func(uint32) []byte {
			if before.Swap(true) {
				return nil
			}
			return frame(goAway, 0, 0, number(0), number(0))
		})
	}, "h2")
}

// The frames of HTTP/2 that are used, and their flags (RFC 9113).
const (
	data, headers, rstStream, settings, ping, goAway = 0, 1, 3, 4, 6, 7
	endStream, endHeaders, ack                       = 1, 4, 1
)

func frame(kind, flags byte, stream uint32, payload ...[]byte) []byte {
	body := bytes.Join(payload, nil)
	size := number(uint32(len(body)))
	return slice(size[1:], []byte{kind, flags}, number(stream), body)
}

func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func slice(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// begun is the beginning of a good response: status 200 and one byte.
func begun(stream uint32) []byte {
	json := "\x0f\x10\x10application/json" // content-type, as HPACK writes it
	return slice(frame(headers, endHeaders, stream, []byte("\x88"+json)), frame(data, 0, stream, []byte("{")))
}

// answerFrames reads one request of HTTP/2 and writes raw frames. It answers pings until it has the request,
// because a client that takes its connection for lost before that tells it as another error.
func answerFrames(c net.Conn, r *bufio.Reader, says func(stream uint32) []byte) {
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	if _, err := r.Discard(len(preface)); err != nil {
		return
	}
	_, _ = c.Write(frame(settings, 0, 0))
	for {
		var top [9]byte
		if _, err := io.ReadFull(r, top[:]); err != nil {
			return
		}
		size := int(top[0])<<16 | int(top[1])<<8 | int(top[2])
		payload := make([]byte, size)
		if _, err := io.ReadFull(r, payload); err != nil {
			return
		}
		switch kind, flags := top[3], top[4]; {
		case kind == ping && flags&ack == 0:
			_, _ = c.Write(frame(ping, ack, 0, payload))
		case (kind == data || kind == headers) && flags&endStream != 0:
			_, _ = c.Write(says(binary.BigEndian.Uint32(top[5:])))
			return
		}
	}
}
