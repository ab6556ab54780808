package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Reaction is what follows where a server's tool did not do what the model wanted.
type Reaction string

// The reactions.
const (
	// AskAgain shows the model what was wrong and asks for other arguments; it costs an attempt: see
	// [tool.AskAgain].
	AskAgain Reaction = "ask_again"
	// Fail tells the model, and charges nothing: see [tool.Fail].
	Fail Reaction = "fail"
)

// SchemaChoice is what becomes of a tool whose input schema cannot be used.
type SchemaChoice string

// The choices.
const (
	// RefuseList makes it an error of [Tools] that names the tool and says why.
	RefuseList SchemaChoice = "refuse_list"
	// LeaveOut does not offer the tool.
	LeaveOut SchemaChoice = "leave_out"
	// OfferUnchecked offers the tool with any object as its arguments; the schema, as far as it is short, is
	// told in its description.
	OfferUnchecked SchemaChoice = "offer_unchecked"
)

// Unlimited is no bound, where a field allows it.
const Unlimited = -1

// Config says which tools of a server are offered, by what names, and what their results may be. The zero
// value is refused: begin with [DefaultConfig]. It is not changed by this package, and may be shared.
type Config struct {
	// Prefix stands before every name: "trips." makes "trips.book" of "book". Characters that retake does not
	// take in a name (it takes A-Z a-z 0-9 _ . / -) become "_" in what follows it.
	Prefix string
	// Rename gives tools other names, by the server's name. Such a name gets no prefix.
	Rename map[string]string
	// Only lists the server's names of the tools to offer; nil offers all.
	Only []string
	// MaxTools bounds the server's list; 1 or more. A longer one is refused.
	MaxTools int
	// Schemas is what becomes of a tool whose input schema cannot be compiled, or that accepts no arguments
	// at all.
	Schemas SchemaChoice
	// OnError is what follows a result with isError.
	OnError Reaction
	// OnOversize is what follows a result of more than MaxResultBytes, or of media above MaxMediaBytes.
	OnOversize Reaction
	// MaxResultBytes bounds a result, in bytes of JSON as the model would be shown it; 2 or more.
	MaxResultBytes int
	// MaxMediaBytes bounds the media of a result together, in bytes: images, recordings and PDFs, which go to
	// the model as parts of the result ([message.Part]). 0 leaves them out and describes them, for models that
	// take none: their providers refuse the next request.
	MaxMediaBytes int
	// CheckResults holds results to the output schema of their tool, where it has one. One that does not keep
	// to it ends the call with an error.
	CheckResults bool
	// TrustHints takes the hints of all tools at their word: readOnlyHint declares a tool read-only,
	// idempotentHint idempotent, so that its calls are made again after a transport fault or a crash. Off by
	// default: hints are the server's own claim. An absent hint declares nothing, and destructiveHint decides
	// nothing. TrustHintsOf does it for single tools, by the server's names.
	TrustHints   bool
	TrustHintsOf []string
	// CallTimeout bounds one call, and starts again with each progress it reports; [Unlimited] leaves it to
	// the context.
	CallTimeout time.Duration
}

// DefaultConfig offers all tools under their own names, at most 1000; refuses schemas that cannot be used;
// asks again after isError, above 64 KiB and above 4 MiB of media; checks results; and gives a call one minute.
func DefaultConfig() Config {
	return Config{
		MaxTools: 1000, Schemas: RefuseList, OnError: AskAgain, OnOversize: AskAgain,
		MaxResultBytes: 64 << 10, MaxMediaBytes: 4 << 20,
		CheckResults: true, CallTimeout: time.Minute,
	}
}

// Validate names every field that is out of bounds, and says what would be right.
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
		errs = append(errs, fmt.Errorf("%s: %q, want %q, %q or %q", "Schemas", string(c.Schemas), RefuseList, LeaveOut, OfferUnchecked))
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
