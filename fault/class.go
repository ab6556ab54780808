package fault

// Plane says what helps against a failure. The zero value is invalid.
type Plane string

// The two planes. Their policies, counters and budgets are kept apart: a failure of one never charges the
// other.
const (
	// Correction is for replies that cannot be used: the model is shown what was wrong and asked again.
	Correction Plane = "correction"
	// Transport is for calls that did not come through: the same request is sent again, and the model hears
	// nothing of it.
	Transport Plane = "transport"
)

// Class is the stable name of a kind of failure in policies, journals and logs. Users may add their own; a
// class no policy lists is not retried. The zero value means "nothing went wrong".
type Class string

// The classes of the correction plane.
const (
	// ToolValidation is a tool call whose arguments the tool's schema or rules refuse.
	ToolValidation Class = "tool_validation"
	// StructuredOutput is a final answer that cannot be parsed or that its schema refuses.
	StructuredOutput Class = "structured_output"
	// UnknownTool is a call of a tool that was not offered.
	UnknownTool Class = "unknown_tool"
	// NoOutput is a reply with neither text nor calls, or without a call where one is required.
	NoOutput Class = "no_output"
	// Truncated is a reply cut off by the token limit. Nothing of it is repaired or executed.
	Truncated Class = "truncated"
	// Refusal is a reply in which the model or its provider declined to answer.
	Refusal Class = "refusal"
	// Reducer is a state update that a session's reducer refused.
	Reducer Class = "reducer"
	// NoProgress is a cycle of valid calls whose results stay the same.
	NoProgress Class = "no_progress"
)

// Classes returns the built-in classes of the plane in a fixed order. The slice is the caller's own.
func (p Plane) Classes() (all []Class) {
	for _, row := range codes() {
		if row.Plane == p {
			all = append(all, row.Class)
		}
	}
	return all
}

// InCorrection reports whether c is one of the built-in classes of the correction plane.
func (c Class) InCorrection() bool { return c.in(Correction) }
