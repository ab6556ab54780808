package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/message"
)

// ErrUnanswered is the error of a run whose conversation has calls without a result, such as those that a run
// with loop.Config.CallsOnly left to its caller. [Session.Answer] takes the results, and without a session
// loop.Input.History ends with them. The error names the calls. Without their results the model would take
// them for calls that were not made, and call again.
var ErrUnanswered = errors.New("session: calls of the conversation have no result")

// maxNamed is the most calls that an error names.
const maxNamed = 10

// Unanswered returns an error of [ErrUnanswered] that names the calls without a result.
func Unanswered(said []message.Message) error {
	open := talk.Unanswered(said)
	if len(open) == 0 {
		return nil
	}
	var names []string
	for _, c := range open[:min(len(open), maxNamed)] {
		names = append(names, fmt.Sprintf("%.64q (%.64s)", c.Name, c.ID))
	}
	if more := len(open) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: %s: hand them over with Session.Answer or at the end of Input.History, or set "+
		"NewConversation",
		ErrUnanswered, strings.Join(names, ", "))
}
