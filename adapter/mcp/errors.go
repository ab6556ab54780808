package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
)

// ResultError says that a server's result is not what the server itself promises. It is found by errors.As in
// the error of a call. Safe for concurrent reading.
type ResultError struct {
	// Tool is the server's name of the tool.
	Tool string
	// Issues says all that is wrong, in canonical order.
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

// subject is what an error is about: a tool of a server, or a method where there is no tool.
type subject struct{ server, what string }

func (s subject) error(class fault.Class, final bool, say string, cause error) error {
	return fault.ProviderError{
		Class: class, Provider: s.server, Message: fmt.Sprintf("%s: %s", s.what, say), Final: final, Cause: cause,
	}.Typed()
}

// lostError is a connection that is no more.
type lostError struct {
	err error
	// again says that there is a way to a new one.
	again bool
}

func (e *lostError) Error() string { return "the connection is lost: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// connectionLost reports whether the session behind an error is of no more use.
func connectionLost(err error) bool {
	for _, gone := range []error{
		sdk.ErrConnectionClosed, sdk.ErrSessionMissing, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrClosed, syscall.EPIPE,
		syscall.ECONNRESET,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// rpcCodes say what JSON-RPC errors mean, and what their reader may do.
var rpcCodes = map[int64]struct {
	class fault.Class
	hint  string
}{
	jsonrpc.CodeParseError:                    {fault.InvalidRequest, ""},
	jsonrpc.CodeInvalidRequest:                {fault.InvalidRequest, ""},
	jsonrpc.CodeMethodNotFound:                {fault.NotFound, "the server has no such method"},
	jsonrpc.CodeInvalidParams:                 {fault.InvalidRequest, "the tool may be gone or changed since it was listed: list the tools again"},
	sdk.CodeHeaderMismatch:                    {fault.Config, ""},
	sdk.CodeMissingRequiredClientCapabilities: {fault.Config, "the server needs a client that can do more"},
	sdk.CodeUnsupportedProtocolVersion:        {fault.Config, "the server speaks other versions of the protocol"},
	sdk.CodeURLElicitationRequired:            {fault.PermissionDenied, "the server wants the user to visit a page first"},
}

// classify is a call's error as a [fault.ProviderError]: the context's own end, a lost connection, a JSON-RPC
// error by its code, or what its type says. Words of an error decide nothing.
func classify(ctx context.Context, err error, s subject) error {
	if cause := context.Cause(ctx); cause != nil {
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
	// The SDK has a JSON-RPC error in the chain of what the transport refused, too.
	if f := fault.TypedFailure(err); f.Class.InTransport() && f.Class != fault.ToolExecution {
		return fault.ProviderError{
			Class: f.Class, Provider: s.server, Message: fmt.Sprintf("%s: %s", s.what, err), RetryAfter: f.RetryAfter, Final: f.Final, Cause: err,
		}.Typed()
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
