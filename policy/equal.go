package policy

// Equal says what happens to a call with the tool and the arguments of an earlier one. The zero value is
// invalid in a policy and means "absent" in a layer.
type Equal string

// The meanings of an equal call.
const (
	// EqualRun runs it like any other.
	EqualRun Equal = "run"
	// EqualRecorded does not run it. The model is told so, and is given the result of the earlier call.
	EqualRecorded Equal = "recorded"
	// EqualRefuse refuses it as a failed attempt of its tool.
	EqualRefuse Equal = "refuse"
	// EqualDeclared is EqualRun for tools that are declared read-only or idempotent, and EqualRecorded for
	// all others.
	EqualDeclared Equal = "declared"
)
