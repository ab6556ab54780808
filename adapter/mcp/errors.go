package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
)

// ResultError is a result that violates the server's own output schema. errors.As finds it in the error of
// a call. It is safe for concurrent reading.
type ResultError struct {
	// Tool is the name of the tool at the server.
	Tool string
	// Issues are all violations, in canonical order.
	Issues []fault.Issue
}

// Error names the tool and the first issue.
func (e *ResultError) Error() string {
	text := fmt.Sprintf("the result of tool %q is not what its output schema says", e.Tool)
	if len(e.Issues) > 0 {
		text += ": " + e.Issues[0].String()
	}
	if rest := len(e.Issues) - 1; rest > 0 {
		text += fmt.Sprintf("; and %d more", rest)
	}
	return text
}

// subject is what an error is about: a tool of a server, or a method if there is no tool.
type subject struct{ server, what string }

func (s subject) error(class fault.Class, final bool, say string, cause error) error {
	return fault.Typed(fault.ProviderError{
		Class: class, Provider: s.server, Message: fmt.Sprintf("%s: %s", s.what, say), Final: final,
		Cause: cause,
	})
}

// lostError is the error of a lost connection.
type lostError struct {
	err error
	// again is whether the connection can be made again.
	again bool
}

func (e *lostError) Error() string { return "the connection is lost: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// closedBefore matches the SDK's error of a call on a connection that was closed before the call was written.
// A server's own error with the code of a closed connection has the same type, and other words.
var closedBefore = regexp.MustCompile(`calling "tools/call": (?:client|server) is closing`)

// neverSent reports whether the server never had the call. A session that is gone does not say so: another
// request may have been refused with it, while the server has this one.
func neverSent(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	return errors.Is(err, sdk.ErrConnectionClosed) && closedBefore.MatchString(err.Error())
}

// connectionLost reports whether the session behind an error is unusable.
func connectionLost(err error) bool {
	if errors.Is(err, sdk.ErrConnectionClosed) {
		return closedBefore.MatchString(err.Error())
	}
	for _, gone := range []error{
		sdk.ErrSessionMissing, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe,
		os.ErrClosed, syscall.EPIPE,
		syscall.ECONNRESET,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// brokeOff matches the SDK's errors of a call over HTTP whose answer began and did not come to its end. Old
// proxies end an answer that broke off like a whole one.
var brokeOff = regexp.MustCompile(`^calling "tools/call": (?:request terminated without response$|` +
	`sending "tools/call": (?:(?:failed to read body|failed to reconnect|exceeded \d+ retries)\b|` +
	`failed to decode (?:response|event): .*\bEOF$))`)

// rpcCodes maps JSON-RPC errors to classes and hints for the reader. No code says that the tool did not run:
// servers pass on the codes of requests that their tools make, such as the -32601 of a client that cannot be
// asked for input.
var rpcCodes = map[int64]struct {
	class fault.Class
	hint  string
}{
	jsonrpc.CodeParseError:     {fault.InvalidRequest, ""},
	jsonrpc.CodeInvalidRequest: {fault.InvalidRequest, ""},
	jsonrpc.CodeMethodNotFound: {fault.NotFound, "the server has no such method"},
	jsonrpc.CodeInvalidParams: {fault.InvalidRequest,
		"the tool may be gone or changed since it was listed: list the tools again"},
	sdk.CodeHeaderMismatch:                    {fault.Config, ""},
	sdk.CodeMissingRequiredClientCapabilities: {fault.Config, "the server needs a client that can do more"},
	sdk.CodeUnsupportedProtocolVersion: {fault.Config,
		"the server speaks other versions of the protocol"},
	sdk.CodeURLElicitationRequired: {fault.PermissionDenied,
		"the server wants the user to visit a page first"},
}

// classify returns the error of a call as a [fault.ProviderError]: by the end of the context, a lost
// connection, the code of a JSON-RPC error, or its type. The text of an error decides nothing.
func classify(ctx context.Context, err error, s subject) error {
	err = fault.Bounded(err)
	if cause := fault.Bounded(context.Cause(ctx)); cause != nil {
		if errors.Is(cause, errCallTimeout) {
			return s.error(fault.Timeout, false, cause.Error(), err)
		}
		return fmt.Errorf("mcp: %s: %w", s.what, cause)
	}
	if lost, ok := errors.AsType[*lostError](err); ok {
		say := lost.Error()
		if !lost.again {
			say += " (WithReconnect would make a new one)"
		}
		return s.error(fault.Network, !lost.again, say, err)
	}
	// The SDK adds a JSON-RPC error to the chain of what the transport refused, too.
	if f := fault.TypedFailure(err); f.Class.Plane() == fault.Transport && f.Class != fault.ToolExecution {
		return fault.Typed(fault.ProviderError{
			Class: f.Class, Provider: s.server, Message: fmt.Sprintf("%s: %s", s.what, err),
			RetryAfter: f.RetryAfter, Final: f.Final, Cause: err,
		})
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return s.rpc(wire, err)
	}
	return s.error(fault.ToolExecution, false, err.Error(), err)
}

func (s subject) rpc(wire *jsonrpc.Error, err error) error {
	say := fmt.Sprintf("JSON-RPC error %d: %s", wire.Code, wire.Message)
	row, known := rpcCodes[wire.Code]
	if !known {
		return s.error(fault.ToolExecution, false, say, err)
	}
	if row.hint != "" {
		say += " (" + row.hint + ")"
	}
	return s.error(row.class, false, say, err)
}
