package machine

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/prompt"
)

// This file has what the model is told about a call beside its result. The feedback on its arguments is made
// in answers.go.

// notRun is the answer to the valid calls of a reply that the policy wants all or none of.
const notRun = "Not run: another call of the same reply could not be used. Send all calls again."

// userSpokeFirst is why calls are not made if the user has said something.
const userSpokeFirst = "the user has said something first. Read it, and decide anew."

// refusedByPerson is why a call is not made that a person refused.
const refusedByPerson = "a person refused this call."

// givenToUser replaces, in prompts of later runs, the result of a call that answered a run. The result itself
// follows there as the model's own message.
var givenToUser = json.RawMessage(`"The user was given the result as the answer. It follows."`)

// wordless is the text of a tool that failed without a text.
const wordless = "the tool failed"

// notKept is the whole feedback on a refused result if there is no other.
const notKept = "What followed from it was refused, and the state is as it was before. " +
	"What the tool did stands."

// maxSaid is the most bytes that the model is shown of a failed tool's text, of a person's words and of
// changed arguments. With less room than leastSaid bytes, a tool's text is left out.
const (
	maxSaid   = 1024
	leastSaid = 256
)

// maxReturned is the most bytes that the model is shown of a result that a reducer refused.
const maxReturned = 4096

// preface returns what the model is told before the answer to a call: that a person changed its arguments,
// and that it left something in doubt.
func (c *BatchCall) preface() (text string) {
	if c.Changed {
		text = "A person changed the arguments of this call before it ran, to " +
			feedback.InMarks(string(c.Arguments), maxSaid) + ". What follows is of the call with these.\n"
	}
	if c.Corrected {
		text = "This call was not accepted, and a person corrected its arguments, to " +
			feedback.InMarks(string(c.Arguments), maxSaid) + ". What follows is of the call with these.\n"
	}
	if c.Doubt {
		text += "Something that this call did may or may not have happened.\n"
	}
	return text
}

// failedWords returns what the model is told about a tool that failed for good.
func (c *BatchCall) failedWords(end *ToolEnd, inDoubt bool, lim feedback.Limits) string {
	failed, lead := "The tool failed.", "The tool failed: "
	if inDoubt {
		failed = c.doubting("The call failed", ", and")
		lead = failed + " The tool says: "
	}
	switch {
	case end.Text == "" || end.Text == wordless:
		return failed
	case end.Whole:
		return lead + feedback.InMarks(end.Text, math.MaxInt)
	case lim.MaxBytes < leastSaid:
		return failed + " There is no room for what it said."
	}
	return lead + feedback.InMarks(end.Text, min(lim.MaxBytes-len(lead), maxSaid))
}

// ranWords returns what the model is told about a tool that ran and whose result a reducer refused. The
// tool's effect stands, so the result is not kept from the model. told is the feedback.
func ranWords(tool string, end *ToolEnd, told string) string {
	result := feedback.QuoteJSON(string(end.Result))
	if len(result) > maxReturned {
		result = fmt.Sprintf("%s (its beginning; it has %d bytes)",
			feedback.InMarks(string(end.Result), maxReturned),
			len(end.Result))
	}
	if told == prompt.Withheld || told == prompt.NoRoom {
		told = notKept
	}
	return "The tool " + feedback.Name(tool) + " has run. Its result: " + result + "\n" + told
}

// lostText returns the text for a call that ended without a result.
func (c *BatchCall) lostText(v Verdict) string {
	switch {
	case v == Unknown:
		return c.doubting("The outcome of this call is not known", ":")
	case v == TryLater && !c.inDoubt() && c.Transport > 1:
		return fmt.Sprintf("Not done: the tool is not ready for this call, and was asked %d times.", c.Transport)
	case v == TryLater && !c.inDoubt():
		return "Not done: the tool is not ready for this call."
	case c.Transport > 1:
		return c.doubting(fmt.Sprintf("The call failed %d times", c.Transport), ", and")
	}
	return c.doubting("The call failed", ", and")
}

// leftText returns the answer to a call in doubt that is not made again, and that a person may be asked
// about.
func (c *BatchCall) leftText() string {
	if c.Lost != nil {
		return c.lostText(c.Lost.Verdict)
	}
	made := *c
	made.Transport-- // the next try is not made
	return made.lostText(Broke)
}

// stoppedText returns the answer to a call that had begun when the run was stopped.
func (c *BatchCall) stoppedText() string {
	if c.ReadOnly {
		return "No result: the run was stopped."
	}
	return "No result: the run was stopped. The effect of this call may or may not have happened."
}

// doubting ends a sentence about a call without a result. Unless the call is read-only, it says that its
// effect is unknown.
func (c *BatchCall) doubting(end, and string) string {
	if c.ReadOnly {
		return end + "."
	}
	return end + and + " its effect may or may not have happened."
}

// withWords returns what the model is told, with a person's words after what introduces them.
func withWords(lead, said, words string) string {
	if words = strings.TrimSpace(words); words == "" {
		return lead
	}
	return lead + said + feedback.InMarks(words, maxSaid)
}
