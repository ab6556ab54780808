package kit

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
)

// cutTexts are the beginnings of the texts with which net/http says that a connection, a stream or a body
// broke, where it has no type for it. A test makes each with a real server, so that a version of Go with
// another text fails it.
var cutTexts = []string{
	"http2: server sent GOAWAY and closed the connection; ",
	"http2: Transport: cannot retry err [",
	"http2: client connection lost",
	"connection error: ", // a fault of the HTTP/2 protocol
	"net/http: server replied with more than declared Content-Length; truncated",
	"http: server closed idle connection",
	"net/http: HTTP/1.x transport connection broken: ",
	"http: unexpected EOF reading trailer",
	"http: suspiciously long trailer after chunked body",
	"chunked encoding contains too much non-data",
	"malformed chunked encoding",
	"chunked line ends with bare LF",
	"invalid CR in chunked line",
	"empty hex number for chunk length",
	"invalid byte in chunk length",
	"http chunk length too large",
	"header line too long",
}

// otherProtocols are the beginnings of what a server says that does not speak HTTP, as net/http quotes it:
// a TLS alert, and the first frame of HTTP/2.
var otherProtocols = []string{`malformed HTTP response "\x15\x03`, `malformed HTTP response "\x00\x00`}

// tlsOnly are parts of what servers of TLS answer to a request over plain HTTP: Go's, nginx and Apache.
var tlsOnly = []string{"Client sent an HTTP request to an HTTPS server",
	"The plain HTTP request was sent to HTTPS port", "speaking plain HTTP to an SSL-enabled server port"}

// wantsTLS reports whether a refusal says so. What a provider's own error quotes does not count.
func wantsTLS(refusal []byte) bool {
	says := func(text string) bool { return bytes.Contains(refusal, []byte(text)) }
	return readError(refusal).Sentence == "" && slices.ContainsFunc(tlsOnly, says)
}

// streamError has the fields of net/http's error of a reset HTTP/2 stream, which converts itself to such a
// type for errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("stream %d: reset", e.StreamID) }

// isCut reports whether a connection, a stream or a body broke. The end of somebody's time or patience is
// no cut.
func isCut(err error) bool {
	late, isNet := errors.AsType[net.Error](err)
	if isNet && late.Timeout() || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return is[streamError](err) || is[flate.CorruptInputError](err) || is[*net.OpError](err) ||
		is[tls.RecordHeaderError](err) || errors.Is(err, gzip.ErrChecksum) || isEnd(err) || says(err, cutTexts)
}

// is reports whether there is an error of a type in a chain.
func is[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}

// says reports whether the text of an error in a chain begins with one of some texts.
func says(err error, texts []string) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	if slices.ContainsFunc(texts, func(t string) bool { return strings.HasPrefix(text, t) }) {
		return true
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.ContainsFunc(many.Unwrap(), func(e error) bool { return says(e, texts) })
	}
	return says(errors.Unwrap(err), texts)
}

// misaddressed returns the error of a server that speaks another protocol than the address says; nil for
// any other error.
func misaddressed(err error) error {
	record, isRecord := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), isRecord && record.Conn != nil: // these are the first bytes
		return &addressError{"the server does not speak TLS: the address or its port is wrong, or it " +
			"begins with http", err}
	case says(err, otherProtocols):
		return &addressError{"the server does not speak plain HTTP: the address or its port is wrong, or " +
			"it begins with https", err}
	}
	return nil
}
