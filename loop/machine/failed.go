package machine

import (
	"cmp"
	"slices"

	"github.com/retake-go/retake/fault"
)

// ToolFailure is a call of a run that failed: it gave no result.
type ToolFailure struct {
	Tool string `json:"tool"`
	// CallID is the id of the call in its reply.
	CallID string `json:"call_id,omitempty"`
	// Key is its idempotency key. The same call made again has the same key if it was in doubt.
	Key string `json:"key"`
	// Class is the class of its error; [fault.ToolExecution] if the tool failed for good.
	Class fault.Class `json:"class"`
	// Text is what the tool said or the text of its error, on one line, without keys, at most 1 KiB. It is for
	// operators.
	Text string `json:"text,omitempty"`
	// ReadOnly reports that the tool is declared read-only: nothing depends on the call.
	ReadOnly bool `json:"read_only,omitempty"`
}

// ToolFailures returns the calls of the run that failed, in the order of their ends. The slice is read-only.
func (st State) ToolFailures() []ToolFailure { return st.failures.From(0) }

// Warned returns the warnings of a run that has ended, with those of its tools that gave no result. An action
// without a model has no tool calls; its failures are in its error.
func (st *State) Warned() []string {
	all := slices.Clip(st.Outcome.Warnings)
	for _, a := range st.Attempts() {
		if text := a.ToolFailure(); text != "" && !st.Config.Single {
			all = append(all, text)
		}
	}
	return all
}

// failed records a call that failed.
func (s *step) failed(c *BatchCall, class fault.Class, text string) {
	s.failures = s.failures.Append(ToolFailure{Tool: c.Tool, CallID: c.ID, Key: c.Key, Class: class, Text: text,
		ReadOnly: c.ReadOnly})
}

// failedAt records that the call of a consultation failed, if it is about one.
func (s *step) failedAt(c *Consultation) {
	if c.Tool != "" {
		s.failed(s.Batch.Calls[c.Index], c.Failure.Class, textOfFailure(&c.Failure))
	}
}

// textOfFailure returns the text of the error behind a failure.
func textOfFailure(f *fault.Failure) string { return cmp.Or(f.Text, f.Message) }
