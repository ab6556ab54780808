package fault

import (
	"context"
	"errors"
	"fmt"
)

// coded, statused and netted are what SDK and network errors offer without their packages having to be
// imported: smithy's API errors, its HTTP errors, and net.Error.
type (
	coded    interface{ ErrorCode() string }
	statused interface{ HTTPStatusCode() int }
	netted   interface {
		Timeout() bool
		Temporary() bool
	}
)

// typeNames are error types of the standard library that say what happened by themselves.
var typeNames = meanings(typeTable)

const typeTable = `
invalid_response: *json.SyntaxError *json.UnmarshalTypeError
io: *fs.PathError *os.LinkError *os.SyscallError
network: *tls.CertificateVerificationError x509.UnknownAuthorityError x509.HostnameError
network: x509.CertificateInvalidError *tls.RecordHeaderError tls.RecordHeaderError *net.OpError
network: *net.DNSError *net.AddrError *net.ParseError
`

// classed are the typed errors of this package, and all types that embed one.
type classed interface {
	error
	classOf() Class
}

func (*ToolValidationError) classOf() Class   { return ToolValidation }
func (*StructuredOutputError) classOf() Class { return StructuredOutput }
func (*ReducerError) classOf() Class          { return Reducer }
func (e *ProviderError) classOf() Class       { return e.Class }

// ownClass is the class that a typed error of this package carries; empty where there is none.
func ownClass(err error) Class {
	if e, ok := errors.AsType[classed](err); ok {
		return e.classOf()
	}
	return ""
}

// contextClass tells a caller who gave up from a caller whose time is up. A timeout of a client or a
// connection passes itself off as context.DeadlineExceeded but is not that very error: it is no deadline of
// the caller's.
func contextClass(err error) Class {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return Cancelled
	case has(err, func(e error) bool { return e == context.DeadlineExceeded }):
		return DeadlineExceeded
	}
	return ""
}

// errorClass is what the types in an error's chain say.
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

// typeClass is what the types in an error's chain say, whatever its words are.
func typeClass(err error) (found Class) {
	has(err, func(e error) bool {
		if c := typeNames(fmt.Sprintf("%T", e)); c != "" {
			found = c
		}
		n, isNet := e.(netted)
		if isNet && n.Timeout() {
			found = Timeout
		}
		return found != ""
	})
	return found
}

// networked reports whether a network error is in the chain.
func networked(err error) bool {
	var n netted
	return errors.As(err, &n)
}

// has walks an error's tree, the outermost first. It stops after maxChain errors, so that no chain can hang
// it.
func has(err error, match func(error) bool) bool {
	left := maxChain
	return walk(err, match, &left)
}

// maxChain is the most errors of a chain that are looked at.
const maxChain = 256

func walk(err error, match func(error) bool, left *int) bool {
	for ; err != nil && *left > 0; *left-- {
		if match(err) {
			return true
		}
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				if walk(e, match, left) {
					return true
				}
			}
			return false
		}
		err = errors.Unwrap(err)
	}
	return false
}
