package projection

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
)

// Bounds of what stays of a call, in bytes.
const (
	maxArguments = 256
	maxSaid      = 96
	maxKept      = 128
)

// leftOut returns the text in the place of parts that were cut.
func leftOut(messages int, parts []part, room int) string {
	return fmt.Sprintf("[%s left out here.%s]", are(messages, "earlier message"), receipts(parts, room))
}

// are returns a number with a noun and the verb: "1 message is", "2 messages are".
func are(n int, noun string) string {
	if n == 1 {
		return several.Of(n, noun) + " is"
	}
	return several.Of(n, noun) + " are"
}

// receipts lists the calls of parts that had an effect, or may have had one. If they take more than room,
// what the oldest returned is left out. Equal lines are written once.
func receipts(parts []part, room int) string {
	var calls []*Call
	for n := range parts {
		for c := range parts[n].Calls {
			calls = append(calls, &parts[n].Calls[c])
		}
	}
	if len(calls) == 0 {
		return ""
	}
	lines, size := make([]string, len(calls)), 0
	for n, c := range calls {
		lines[n] = c.line(c.outcome())
		size += len(lines[n])
	}
	for n := 0; n < len(calls) && size > room; n++ {
		size -= len(lines[n])
		lines[n] = calls[n].line(calls[n].verdict())
		size += len(lines[n])
	}
	return " They have these tool calls, which are over:\n" + counted(lines)
}

// counted writes lines, each once.
func counted(lines []string) string {
	times := map[string]int{}
	for _, line := range lines {
		times[line]++
	}
	var b strings.Builder
	for _, line := range lines {
		if n := times[line]; n > 1 {
			b.WriteString("- " + line + " (" + strconv.Itoa(n) + " times)\n")
		} else if n == 1 {
			b.WriteString("- " + line + "\n")
		}
		times[line] = 0
	}
	return b.String()
}

// line returns the line about a call: its name, its arguments, and told.
func (c *Call) line(told string) string {
	arguments := feedback.QuoteJSON(canon.UTF8(c.Arguments))
	if len(arguments) > maxArguments {
		arguments = feedback.InMarks(c.Arguments, maxArguments)
	}
	return feedback.Name(c.Tool) + " " + arguments + told
}

// outcome tells what a call returned, and verdict only whether it did.
func (c *Call) outcome() string {
	switch {
	case c.Said == "":
		return c.verdict()
	case c.InDoubt || c.Failed:
		return c.verdict() + ". You were told: " + feedback.InMarks(c.Said, maxSaid)
	}
	return " returned " + feedback.InMarks(c.Said, maxSaid)
}

func (c *Call) verdict() string {
	switch {
	case c.InDoubt:
		return ": its effect may or may not have happened"
	case c.Failed && c.derived:
		return " was answered by an error"
	case c.Failed:
		return " failed"
	}
	return " was done"
}

// cleared returns the text in the place of a result.
func cleared(m *message.Message) string {
	if len(m.Parts) > 0 && len(m.Text) <= maxKept {
		return fmt.Sprintf("%s\n[This result had %s, left out here.]", m.Text,
			several.Of(len(m.Parts), "attachment"))
	}
	return fmt.Sprintf("[This result is left out here. It has %d bytes and begins with %s]", len(m.Text),
		feedback.InMarks(m.Text, maxKept))
}

// summarised returns the text in the place of messages that a model summed up. A summary is its words, so it
// is quoted. What it says of calls does not count, so these are listed.
func summarised(messages int, summary string, parts []part, room int) string {
	return fmt.Sprintf("[%s left out here. A model summed them up: %s%s]", are(messages, "earlier message"),
		feedback.InMarks(summary, max(len(summary)*2, 16)), receipts(parts, room))
}
