package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Reaction is what follows if a server's tool returns an error.
type Reaction string

// The reactions.
const (
	// Fail shows the model the tool's words, and says that the call failed and may have had its effect all
	// the same, unless the tool is declared read-only. It costs no attempt: see [tool.FailedError].
	Fail Reaction = "fail"
	// AskAgain shows the model the tool's words as a request for other arguments. It costs an attempt: see
	// [tool.AskAgain]. Use it only for tools that have had no effect when they return an error, for the model
	// is asked to call again. Texts of known SDKs that are not about the arguments are failures.
	AskAgain Reaction = "ask_again"
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
	// OnError is the reaction to a result with isError.
	OnError Reaction
	// MaxErrorBytes bounds the text of a result with isError, in bytes before it is quoted; 1 or more. A
	// longer text is cut and says so. Under [AskAgain] the model is shown at most 1 KiB.
	MaxErrorBytes int
	// MaxResultBytes bounds a result, in bytes of JSON as the model would see it; 2 or more. A longer result
	// becomes its beginning as a text, which says so; it is not checked against the output schema.
	MaxResultBytes int
	// MaxMediaBytes bounds the media of a result together, in bytes: images, recordings and PDFs, which go
	// to the model as parts of the result ([message.Part]). What is above it is described. 0 describes all
	// media. Use that for models without media, because their providers would refuse the next request.
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
	// Transport is what the session runs over, for tracers: "pipe" for a server's standard input and output,
	// "tcp" for HTTP. The SDK does not say it of a session. Empty leaves it out.
	Transport string
}

// DefaultConfig offers all tools under their own names, at most 1000. It refuses schemas that cannot be used
// or have more than 256 KiB, cuts descriptions at 16 KiB, tells the model of errors in at most 16 KiB of the
// server's words, shows at most 64 KiB of a result and 4 MiB of media, checks results, and gives a call one
// minute.
func DefaultConfig() Config {
	return Config{
		MaxTools: 1000, Schemas: RefuseList,
		MaxDescriptionBytes: 16 << 10, MaxSchemaBytes: 256 << 10, OnError: Fail,
		MaxErrorBytes: 16 << 10, MaxResultBytes: 64 << 10, MaxMediaBytes: 4 << 20,
		CheckResults: true, CallTimeout: time.Minute,
	}
}

// Validate returns an error that joins one for each field that is out of bounds, each with the valid
// values.
func (c Config) Validate() error {
	var errs []error
	if c.OnError != AskAgain && c.OnError != Fail {
		errs = append(errs, fmt.Errorf("OnError: %q, want %q or %q", string(c.OnError), Fail, AskAgain))
	}
	if !slices.Contains([]SchemaChoice{RefuseList, LeaveOut, OfferUnchecked}, c.Schemas) {
		errs = append(errs, fmt.Errorf("%s: %q, want %q, %q or %q", "Schemas", string(c.Schemas), RefuseList,
			LeaveOut, OfferUnchecked))
	}
	for _, bound := range []struct {
		field        string
		value, least int
	}{
		{"MaxDescriptionBytes", c.MaxDescriptionBytes, 1}, {"MaxSchemaBytes", c.MaxSchemaBytes, 1},
		{"MaxTools", c.MaxTools, 1}, {"MaxErrorBytes", c.MaxErrorBytes, 1},
		{"MaxResultBytes", c.MaxResultBytes, 2}, {"MaxMediaBytes", c.MaxMediaBytes, 0},
	} {
		if bound.value < bound.least {
			errs = append(errs, fmt.Errorf("%s: %d, want at least %d", bound.field, bound.value, bound.least))
		}
	}
	if c.CallTimeout <= 0 && c.CallTimeout != Unlimited {
		errs = append(errs, fmt.Errorf("CallTimeout: %v, want more than 0, or Unlimited", c.CallTimeout))
	}
	if c.Transport != "" && c.Transport != "pipe" && c.Transport != "tcp" {
		errs = append(errs, fmt.Errorf("%s: %q, want %q, %q, or nothing", "Transport", c.Transport, "pipe",
			"tcp"))
	}
	return errors.Join(append(errs, c.validateNames()...)...)
}

func (c Config) validateNames() (errs []error) {
	if c.Prefix != cleanName(c.Prefix) {
		errs = append(errs, fmt.Errorf("%s: %q, want characters of A-Z a-z 0-9 _ . / - only", "Prefix",
			c.Prefix))
	}
	for _, from := range slices.Sorted(maps.Keys(c.Rename)) {
		if to := c.Rename[from]; to == "" || to != cleanName(to) {
			errs = append(errs, fmt.Errorf("%s[%q]: %q, want 1 to 128 of the characters A-Z a-z 0-9 _ . / -",
				"Rename", from, to))
		}
	}
	if c.Only != nil && len(c.Only) == 0 {
		errs = append(errs, fmt.Errorf("%s: is empty, want at least one name, or nil for all tools", "Only"))
	}
	return errs
}
