package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/retake-go/retake/schema"
)

// Reaction is what follows if a server's tool did not do what the model wanted.
type Reaction string

// The reactions.
const (
	// AskAgain shows the model what was wrong and asks for other arguments. It costs an attempt: see
	// [tool.AskAgain].
	AskAgain Reaction = "ask_again"
	// Fail shows the model the error and costs no attempt: see [tool.Fail].
	Fail Reaction = "fail"
)

// SchemaChoice is what happens to a tool whose input schema cannot be used.
type SchemaChoice string

// The choices.
const (
	// RefuseList makes [Tools] fail with an error that names the tool and the reason.
	RefuseList SchemaChoice = "refuse_list"
	// LeaveOut does not offer the tool.
	LeaveOut SchemaChoice = "leave_out"
	// OfferUnchecked offers the tool with any object as its arguments. Its description has the schema, if
	// that is short.
	OfferUnchecked SchemaChoice = "offer_unchecked"
)

// Unlimited means no bound, for the fields that allow it.
const Unlimited = -1

// Config selects the tools of a server, their names, and the bounds of their results. The zero value is
// invalid: begin with [DefaultConfig]. This package does not change a Config, and it may be shared.
type Config struct {
	// Prefix is put before every name: "trips." makes "trips.book" of "book". Characters of the server's
	// name that retake does not allow (it allows A-Z a-z 0-9 _ . / -) become "_".
	Prefix string
	// Rename gives tools other names, by the server's name. Such a name gets no prefix.
	Rename map[string]string
	// Only lists the tools to offer, by the server's names; nil offers all.
	Only []string
	// MaxTools bounds the server's list; 1 or more. A longer list is an error.
	MaxTools int
	// Schemas is what happens to a tool whose input schema cannot be compiled, or accepts no arguments at
	// all.
	Schemas SchemaChoice
	// MaxDescriptionBytes and MaxSchemaBytes bound what a tool adds to every prompt; 1 or more. A longer
	// description is cut, and ends by saying so. A longer input schema cannot be used.
	MaxDescriptionBytes, MaxSchemaBytes int
	// Compile bounds the schemas of a server: one that would take long to compile cannot be used.
	Compile schema.CompileLimits
	// OnError is the reaction to a result with isError.
	OnError Reaction
	// OnOversize is the reaction to a result above MaxResultBytes, or to media above MaxMediaBytes.
	OnOversize Reaction
	// MaxResultBytes bounds a result, in bytes of JSON as the model would see it; 2 or more.
	MaxResultBytes int
	// MaxMediaBytes bounds the media of a result together, in bytes: images, recordings and PDFs, which go
	// to the model as parts of the result ([message.Part]). 0 drops and describes them. Use that for
	// models without media, because their providers would refuse the next request.
	MaxMediaBytes int
	// CheckResults checks results against the output schema of their tool, if it has one. A violation ends
	// the call with an error.
	CheckResults bool
	// TrustHints trusts the hints of all tools: readOnlyHint declares a tool read-only, idempotentHint
	// idempotent, so that its calls are repeated after a transport fault or a crash. It is off by default,
	// because hints are only the server's claim. An absent hint declares nothing, and destructiveHint is
	// ignored. TrustHintsOf trusts single tools, by the server's names.
	TrustHints   bool
	TrustHintsOf []string
	// CallTimeout bounds one call. Progress restarts the clock. [Unlimited] leaves it to the context.
	CallTimeout time.Duration
}

// DefaultConfig offers all tools under their own names, at most 1000. It refuses schemas that cannot be
// used or have more than 256 KiB, cuts descriptions at 16 KiB, asks again after isError, above 64 KiB and above 4 MiB of media, checks results, and gives a call
// one minute.
func DefaultConfig() Config {
	return Config{
		MaxTools: 1000, Schemas: RefuseList, Compile: schema.DefaultCompileLimits(),
		MaxDescriptionBytes: 16 << 10, MaxSchemaBytes: 256 << 10, OnError: AskAgain, OnOversize: AskAgain,
		MaxResultBytes: 64 << 10, MaxMediaBytes: 4 << 20,
		CheckResults: true, CallTimeout: time.Minute,
	}
}

// Validate returns an error that joins one for each field that is out of bounds, each with the valid
// values.
func (c Config) Validate() error {
	var errs []error
	for _, r := range []struct {
		field string
		value Reaction
	}{{"OnError", c.OnError}, {"OnOversize", c.OnOversize}} {
		if r.value != AskAgain && r.value != Fail {
			errs = append(errs, fmt.Errorf("%s: %q, want %q or %q", r.field, string(r.value), AskAgain, Fail))
		}
	}
	if !slices.Contains([]SchemaChoice{RefuseList, LeaveOut, OfferUnchecked}, c.Schemas) {
		errs = append(errs, fmt.Errorf("%s: %q, want %q, %q or %q", "Schemas", string(c.Schemas), RefuseList,
			LeaveOut, OfferUnchecked))
	}
	if c.MaxDescriptionBytes < 1 {
		errs = append(errs, fmt.Errorf("MaxDescriptionBytes: %d, want at least 1", c.MaxDescriptionBytes))
	}
	if c.MaxSchemaBytes < 1 {
		errs = append(errs, fmt.Errorf("MaxSchemaBytes: %d, want at least 1", c.MaxSchemaBytes))
	}
	if err := c.Compile.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("Compile: %w", err))
	}
	if c.MaxTools < 1 {
		errs = append(errs, fmt.Errorf("MaxTools: %d, want at least 1", c.MaxTools))
	}
	if c.MaxResultBytes < 2 {
		errs = append(errs, fmt.Errorf("MaxResultBytes: %d, want at least 2", c.MaxResultBytes))
	}
	if c.MaxMediaBytes < 0 {
		errs = append(errs, fmt.Errorf("MaxMediaBytes: %d, want at least 0", c.MaxMediaBytes))
	}
	if c.CallTimeout <= 0 && c.CallTimeout != Unlimited {
		errs = append(errs, fmt.Errorf("CallTimeout: %v, want more than 0, or Unlimited", c.CallTimeout))
	}
	return errors.Join(append(errs, c.validateNames()...)...)
}

func (c Config) validateNames() (errs []error) {
	if c.Prefix != cleanName(c.Prefix) {
		errs = append(errs, fmt.Errorf("%s: %q, want characters of A-Z a-z 0-9 _ . / - only", "Prefix", c.Prefix))
	}
	for _, from := range slices.Sorted(maps.Keys(c.Rename)) {
		if to := c.Rename[from]; to == "" || to != cleanName(to) {
			errs = append(errs, fmt.Errorf("%s[%q]: %q, want 1 to 128 of the characters A-Z a-z 0-9 _ . / -", "Rename", from, to))
		}
	}
	if c.Only != nil && len(c.Only) == 0 {
		errs = append(errs, fmt.Errorf("%s: is empty, want at least one name, or nil for all tools", "Only"))
	}
	return errs
}
