package extract

import "slices"

// Options limits what is read.
type Options struct {
	// Off lists the forms that are not read; see [Forms].
	Off []Form
	// MaxCalls is the most calls of one text, at least 1. Of a text with more none is read.
	MaxCalls int
}

// The bounds of a call or value, beyond which it is broken. The text around it may be of any length.
const (
	// MaxBytes is the largest that is read, in bytes. A larger one is broken by rule "size".
	MaxBytes = 1 << 20
	// MaxDepth is the deepest nesting of brackets, wrappers included. A deeper one is broken by rule "depth".
	MaxDepth = 64
	// MaxValues is the most values, objects and lists included. More are broken by rule "work".
	MaxValues = 100_000
)

func (o Options) isOff(f Form) bool { return slices.Contains(o.Off, f) }
