package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// since formats the time since the run began.
func since(d time.Duration) string { return "+" + short(d) }

// short formats a duration with few digits.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// bracketed returns the parts in brackets after a space; empty if all are.
func bracketed(parts ...string) string {
	if text := joined(", ", parts...); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// joined joins the parts that are not empty.
func joined(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

// listed returns the names of several things, with commas.
func listed[T any](all []T, name func(T) string) string {
	var names []string
	for _, one := range all {
		names = append(names, name(one))
	}
	return strings.Join(names, ", ")
}

// maxNames is the most characters of the names of tools in a folded row.
const maxNames = 120

// namesText lists names, made safe for a page.
func namesText(names []string) string { return told.Brief(strings.Join(names, ", "), maxNames) }

// after returns a text with a lead, or empty if the text is.
func after(lead, text string) string { return when(text != "", lead+text) }

// when returns a text if something holds, else empty.
func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}

// counted returns how many of something there are; empty if there are none.
func counted(n int, what string) string { return when(n > 0, several.Of(n, what)) }

// sizeText formats a number of bytes.
func sizeText(bytes int) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return several.Of(bytes, "byte")
}

// usageText formats usage; empty if there is none.
func usageText(u message.Usage) string {
	if u.InputTokens+u.OutputTokens+u.CacheReadTokens+u.CacheWriteTokens == 0 {
		return ""
	}
	return several.Grouped(u.InputTokens) + " tokens in, " + several.Grouped(u.OutputTokens) + " out" +
		when(u.ReasoningTokens > 0, " ("+several.Grouped(u.ReasoningTokens)+" of them thinking)") +
		when(u.CacheReadTokens > 0, ", "+several.Grouped(u.CacheReadTokens)+" read from cache") +
		when(u.CacheWriteTokens > 0, ", "+several.Grouped(u.CacheWriteTokens)+" written to it")
}

// shownIssues is the most issues that a line names.
const shownIssues = 4

// issuesText names the first issues.
func issuesText(issues []fault.Issue) string {
	var parts []string
	for _, i := range issues[:min(len(issues), shownIssues)] {
		parts = append(parts, i.String())
	}
	if more := len(issues) - shownIssues; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// repairsText names the repairs of a text; empty if there are none.
func repairsText(repairs []extract.Repair) string {
	var kinds []string
	for _, k := range extract.Kinds(repairs) {
		kinds = append(kinds, string(k))
	}
	return after("repaired: ", strings.Join(kinds, ", "))
}

// failureText returns a failure in words for operators.
func failureText(f *fault.Failure) string {
	return joined("; ", f.Message, when(f.RetryAfter > 0, "the server asks for "+f.RetryAfter.String()))
}

// refusalText returns the error of a reducer in words.
func refusalText(e *fault.ReducerError) string {
	return fmt.Sprintf("reducer %s refused: %s", e.Reducer, e.Message)
}

// attemptText names an attempt and its failure.
func attemptText(d *machine.Decision) string {
	if d.Class == "" {
		return d.Position.String()
	}
	return fmt.Sprintf("%s, %s plane: %s", d.Position, d.Plane, d.Class)
}

// verdictText says what follows an attempt, and why; empty for a good one.
func verdictText(d *machine.Decision) string {
	why := d.Reason.Phrase()
	switch {
	case d.Retry && d.Reason == policy.ReasonServerAsked && d.Delay > 0:
		return "again after " + short(d.Delay) + ", as the server asked"
	case d.Retry && d.Delay > 0:
		return "again after " + short(d.Delay)
	case d.Retry:
		return "again at once"
	case d.Class == "" && d.Reason == policy.ReasonAccepted:
		return ""
	case d.Detail.Wait > 0:
		why += fmt.Sprintf(": a wait of %s, and room for %s", short(d.Detail.Wait), short(d.Detail.Room))
	case d.Detail.Count > 0:
		why += fmt.Sprintf(": %d of %d", d.Detail.Count, d.Detail.Limit)
	}
	return "no more: " + why
}
