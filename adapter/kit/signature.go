package kit

import "regexp"

// UncheckedSignature is Google's value in place of the signature of a call that another model made.
const UncheckedSignature = "skip_thought_signature_validator"

// unsigned matches the models of Google that require no signatures.
var unsigned = regexp.MustCompile(`gemini-[12]([.-]|$)|gemma`)

// NeedsSignature reports whether a model of Google requires that calls have signatures.
func NeedsSignature(model string) bool { return !unsigned.MatchString(model) }
