package loop

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/retake-go/retake/session"
)

// Format prints the error; %+v adds a table of the attempts with their issues and decisions.
func (e *RetryExhaustedError) Format(to fmt.State, verb rune) {
	if verb == 'v' && to.Flag('#') {
		type fields RetryExhaustedError
		fmt.Fprintf(to, "%#v", (*fields)(e))
		return
	}
	if verb != 'v' || !to.Flag('+') {
		fmt.Fprintf(to, fmt.FormatString(to, verb), e.Error())
		return
	}
	_, _ = io.WriteString(to, e.Error())
	if len(e.Attempts) == 0 {
		return
	}
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(rows, "\n  action\tattempt\tplane\tfailure\tdecision\tissues")
	for _, a := range e.Attempts {
		fmt.Fprintf(rows, "\n  %s\t%d of %s\t%s\t%s\t%s\t%s", cmp.Or(a.Action, "answer"), a.Attempt,
			bound(a.MaxAttempts),
			a.Plane, cmp.Or(string(a.Class), "none"), decision(a), issuesLine(a))
	}
	_ = rows.Flush() // a strings.Builder does not fail
	for line := range strings.Lines(table.String()) {
		_, _ = io.WriteString(to, strings.TrimRight(line, " \n"))
		if strings.HasSuffix(line, "\n") {
			_, _ = io.WriteString(to, "\n")
		}
	}
}

// decision returns what was decided on an attempt.
func decision(a session.Attempt) string {
	switch {
	case a.Retry && a.Delay > 0:
		return fmt.Sprintf("again after %v", a.Delay)
	case a.Retry:
		return "again"
	}
	return string(a.Reason)
}

// shownIssues is how many issues of an attempt the table shows.
const shownIssues = 3

func issuesLine(a session.Attempt) string {
	var texts []string
	for _, i := range a.Issues[:min(len(a.Issues), shownIssues)] {
		texts = append(texts, i.String())
	}
	if more := len(a.Issues) - shownIssues; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
