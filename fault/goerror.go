package fault

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/chain"
)

// The methods by which errors of other packages are known, without their packages: the code of smithy's API
// errors, the status of its HTTP errors and of those of many clients, and net.Error.
type (
	coded    interface{ ErrorCode() string }
	statused interface{ HTTPStatusCode() int }
	replied  interface{ StatusCode() int }
	timed    interface{ Timeout() bool }
	netted   interface {
		error
		Timeout() bool
		Temporary() bool
	}
)

// typeNames are the error types of the standard library that name a class.
var typeNames = meanings(typeTable)

const typeTable = `
invalid_response: *json.SyntaxError *json.UnmarshalTypeError
io: *fs.PathError *os.LinkError *os.SyscallError
network: *tls.CertificateVerificationError x509.UnknownAuthorityError x509.HostnameError
network: x509.CertificateInvalidError *tls.RecordHeaderError tls.RecordHeaderError *net.OpError
network: *net.DNSError *net.AddrError *net.ParseError
`

// statusOf returns the HTTP status that an error has, or 0.
func statusOf(err error) int {
	var own statused
	var plain replied
	status := 0
	if errors.As(err, &own) {
		status = own.HTTPStatusCode()
	} else if errors.As(err, &plain) {
		status = plain.StatusCode()
	}
	if status < 100 || status > 599 {
		return 0
	}
	return status
}

// ownFailure returns the failure of the first error in a chain whose type tells a class; zero if there is
// none.
func ownFailure(err error) (own Failure) {
	chain.Has(err, func(e error) bool {
		if f, typed := typedFailure(e); typed && f.Class != "" {
			own = f
		}
		return own.Class != ""
	})
	return own
}

// contextClass distinguishes a caller who cancelled from a caller whose time is up. Timeouts of clients and
// connections match context.DeadlineExceeded, but are another error: they are not the caller's deadline.
func contextClass(err error) Class {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return Cancelled
	case chain.Has(err, func(e error) bool { return e == context.DeadlineExceeded }):
		return DeadlineExceeded
	}
	return ""
}

// errorClass returns the class that the types in an error's chain name. Words distinguish failures of files.
func errorClass(err error) Class {
	found := typeClass(err)
	if found == IO {
		switch wordClass(words(err.Error())) {
		case NotFound:
			return NotFound
		case Permission:
			return PermissionDenied
		}
	}
	return found
}

// typeClass returns the class that the types in an error's chain name.
func typeClass(err error) (found Class) {
	chain.Has(err, func(e error) bool {
		if c := typeNames(fmt.Sprintf("%T", e)); c != "" {
			found = c
		}
		switch {
		case misaddresses(e):
			found = Config
		case timesOut(e):
			found = Timeout
		}
		return found != ""
	})
	return found
}

// misaddresses reports whether an error says by the first bytes of a connection that the server speaks
// another protocol. A tls.RecordHeaderError later in a connection is a broken connection.
func misaddresses(err error) bool {
	switch fmt.Sprintf("%T", err) {
	case "tls.RecordHeaderError":
		return err.Error() == "tls: first record does not look like a TLS handshake"
	case "*errors.errorString":
		return err.Error() == "http: server gave HTTP response to HTTPS client"
	}
	return false
}

// advised returns a message with what would help, if it is known.
func advised(message string, err error) string {
	if !chain.Has(err, misaddresses) {
		return message
	}
	return message + ": the address or its port is wrong"
}

// timesOut reports whether an error says that it is a timeout.
func timesOut(err error) bool {
	t, ok := err.(timed)
	return ok && t.Timeout()
}

// networked reports whether a network error is in the chain. A syscall.Errno has the methods of one whatever
// it means, so it counts only if it is temporary or its text is about connections.
func networked(err error) bool {
	return chain.Has(err, func(e error) bool {
		n, ok := e.(netted)
		return ok && (fmt.Sprintf("%T", e) != "syscall.Errno" || n.Temporary() ||
			wordClass(words(e.Error())) == Network)
	})
}
