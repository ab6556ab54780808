package extract

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Options limits what is read. The zero value reads nothing, because its bounds are zero: start from
// [DefaultOptions].
type Options struct {
	// Off lists the forms that are not read; see [Forms].
	Off []Form
	// MaxBytes is the largest call or value that is read, in bytes, at least 1. A larger one is broken by
	// rule "size". The text around it may be of any length.
	MaxBytes int
	// MaxDepth is the deepest nesting of brackets in a call or value, wrappers included, from 1 to 10,000. A
	// deeper one is broken by rule "depth".
	MaxDepth int
	// MaxValues is the most values in a call or value, its objects and lists included, from 1 to 10,000,000.
	// More are broken by rule "work".
	MaxValues int
	// MaxCalls is the most calls of one text, at least 1. Of a text with more none is read.
	MaxCalls int
}

// maxDepth limits Options.MaxDepth, because reading is recursive.
const maxDepth = 10_000

// maxValues limits Options.MaxValues.
const maxValues = 10_000_000

// DefaultOptions reads every form, 1 MiB, 64 deep, 100,000 values, 128 calls.
func DefaultOptions() Options {
	return Options{MaxBytes: 1 << 20, MaxDepth: 64, MaxValues: 100_000, MaxCalls: 128}
}

// Validate returns all faults of the options. Each names its field and what would be right.
func (o Options) Validate() error {
	var faults []error
	known := Forms()
	for i, f := range o.Off {
		if !slices.Contains(known, f) {
			err := fmt.Errorf("options: Off[%d]: %q is no form; the forms are %q", i, f, known)
			faults = append(faults, err)
		}
	}
	for _, bound := range [...]struct {
		field, wants string
		got, most    int
	}{
		{"MaxBytes", "at least 1", o.MaxBytes, math.MaxInt},
		{"MaxDepth", "1 to 10000", o.MaxDepth, maxDepth},
		{"MaxValues", "1 to 10000000", o.MaxValues, maxValues},
		{"MaxCalls", "at least 1", o.MaxCalls, math.MaxInt},
	} {
		if bound.got < 1 || bound.got > bound.most {
			err := fmt.Errorf("options: %s: want %s, got %d", bound.field, bound.wants, bound.got)
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (o Options) isOff(f Form) bool { return slices.Contains(o.Off, f) }
