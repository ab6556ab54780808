package projection

import (
	"fmt"
	"strings"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
)

// Bounds of what stays of a call, in bytes.
const (
	maxArguments = 512
	maxSaid      = 256
	maxKept      = 128
)

// leftOut is the text in the place of parts that were cut. Equal lines are written once.
func leftOut(messages int, parts []part) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d earlier messages are left out here.", messages)
	b.WriteString(receipts(parts))
	b.WriteString("]")
	return b.String()
}

// receipts lists the calls of parts that had an effect, or may have had one.
func receipts(parts []part) string {
	var lines []string
	times := map[string]int{}
	for _, p := range parts {
		for _, c := range p.Calls {
			line := c.line()
			if times[line]++; times[line] == 1 {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" They have these tool calls, which are over:")
	for _, line := range lines {
		b.WriteString("\n- " + line)
		if n := times[line]; n > 1 {
			fmt.Fprintf(&b, " (%d times)", n)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// line tells of a call: its name, arguments and outcome.
func (c *Call) line() string {
	arguments := feedback.QuoteJSON(string(canon.UTF8(c.Arguments)))
	if len(arguments) > maxArguments {
		arguments = feedback.InMarks(c.Arguments, maxArguments)
	}
	told := " returned " + feedback.InMarks(c.Said, maxSaid)
	switch {
	case c.InDoubt && c.Said == "":
		told = ": its effect may or may not have happened"
	case c.InDoubt:
		told = ": its effect may or may not have happened. It was told: " + feedback.InMarks(c.Said, maxSaid)
	case c.Said == "":
		told = " returned nothing"
	}
	return feedback.Name(c.Tool) + " " + arguments + told
}

// cleared is the text in the place of a result.
func cleared(m *message.Message) string {
	if len(m.Parts) > 0 && len(m.Text) <= maxKept {
		return fmt.Sprintf("%s\n[%d media of this result are left out here.]", m.Text, len(m.Parts))
	}
	return fmt.Sprintf("[This result is left out here. It has %d bytes and begins with %s]", len(m.Text),
		feedback.InMarks(m.Text, maxKept))
}

// summarised is the text in the place of messages that a model summed up. A summary is its words, so it is
// quoted. What it says of calls does not count, so these are listed.
func summarised(messages int, summary string, parts []part) string {
	return fmt.Sprintf("[%d earlier messages are left out here. A model summed them up: %s%s]", messages,
		feedback.InMarks(summary, max(len(summary)*2, 16)), receipts(parts))
}
