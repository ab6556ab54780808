package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/ratelimit"
)

var limitsCommand = command{
	name:    "limits",
	summary: "shows what the headers of a response say about rate limits",
	example: "curl -sI https://api.example.com/v1/models | retake limits",
	usage:   []string{"limits [-now T] [-provider NAME] [-since TIME] [-until TIME] [-json] [HEADERS...]"},
	about: `
HEADERS is a file, a folder of files, or standard input with the headers of a response, one "Name: value" a
line, in any case and order. A status line before them is skipped. A body may follow after an empty line; a
body in JSON may also stand alone. Of what "curl -v" shows the lines that begin with "< " are read.

` + textsOfJournals + `
Of a journal the limits of each failure are shown, as they were recorded.

Dates are turned into waits by the time of the response: -now, or else its Date header. Without either, dates
and waits are left as they are. The clock of this machine is not used.

JSON: {"limited", "retry_after", "wait", "windows": [{"name", "resource", "remaining", "limit", "resets_in",
"reset_at"}], "ignored": [{"header", "value", "why"}]}. "retry_after" is the wait that the server asks for,
and "wait" the one that follows from exhausted windows. They and "resets_in" are in seconds, "reset_at" is
in seconds since the epoch. Unknown values are absent. For several files each line is {"file", "result"},
with "file" as FILE:LINE for a failure in a journal.`,
	task: newTask[limits],
}

type limits struct {
	texts
	Now      moment `flag:"now T" help:"the time T at which the response came: 2030-01-02T15:04:05Z, or seconds since the epoch"`
	Provider string `flag:"provider NAME" help:"whose headers they are: a NAME such as groq"`
}

func (l *limits) run(e *env) error {
	return l.each(e, reader{
		inJournals: "failure with a rate limit",
		text:       func(name string, text []byte) error { return l.read(e, name, text) },
		event: func(name string, ev *machine.Event) (bool, error) {
			state := limitsOf(ev)
			if state == nil {
				return false, nil
			}
			return true, l.tell(e, name, *state)
		},
	})
}

func (l *limits) read(e *env, name string, text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return errors.New("it is empty: give the headers of a response")
	}
	headers, body, strange := splitResponse(text)
	for _, n := range strange {
		e.note("%sline %d is no header and was skipped: want \"Name: value\"", l.prefix(name), n)
	}
	now := responseTime(l.Now.Time, headers)
	r := ratelimit.Response{Provider: l.Provider, Headers: headers, Body: body, At: now}
	return l.tell(e, name, r.Limits())
}

// limitsOf returns what the failure of an event says of rate limits; nil if it says nothing.
func limitsOf(ev *machine.Event) *ratelimit.State {
	switch {
	case ev.Tool != nil:
		return ev.Tool.RateLimit
	case ev.Try != nil:
		return ev.Try.RateLimit
	}
	return ev.RateLimit
}

// tell writes the limits of one response.
func (l *limits) tell(e *env, name string, state ratelimit.State) error {
	state.Windows = append([]ratelimit.Window{}, state.Windows...)
	state.Ignored = append([]ratelimit.Ignored{}, state.Ignored...)
	return l.answer(e, name, state, func() { writeLimits(e, state) })
}

func writeLimits(e *env, s ratelimit.State) {
	switch wait, known := s.Delay(); {
	case s.RetryAfter.Known:
		e.println(e.red("wait "+wait.String()) + ": the server asks for it")
	case known:
		e.println(e.red("wait "+wait.String()) + ": until the exhausted windows reset")
	case s.Limited:
		e.println(e.red("limited") + ": for how long is not said")
	case len(s.Windows) == 0:
		e.println("nothing is said about rate limits")
	default:
		e.println(e.green("not limited"))
	}
	if len(s.Windows) > 0 {
		e.println()
		writeWindows(e, s.Windows)
	}
	if len(s.Ignored) > 0 {
		e.println("\nignored")
	}
	for _, i := range s.Ignored {
		e.printf("  %s: %s  %s\n", plain(i.Header), plain(i.Value), e.faint(plain(i.Why)))
	}
}

func writeWindows(e *env, windows []ratelimit.Window) {
	text := columns(func(w io.Writer) {
		for _, one := range windows {
			count := countText(one.Remaining) + " of " + countText(one.Limit)
			fmt.Fprintf(w, "  %s\t%s\t%s\n", plain(one.Name), count, resetText(one))
		}
	})
	n := 0
	for line := range strings.Lines(text) {
		if windows[n].Exhausted() {
			line = e.red(strings.TrimSuffix(line, "\n")) + "\n"
		}
		e.print(line)
		n++
	}
}

func countText(c ratelimit.Count) string {
	if !c.Known {
		return "?"
	}
	return strconv.FormatInt(c.N, 10)
}

func resetText(w ratelimit.Window) string {
	var parts []string
	if w.ResetsIn.Known {
		parts = append(parts, "resets in "+w.ResetsIn.Duration.String())
	}
	if !w.ResetAt.Time.IsZero() {
		parts = append(parts, "at "+w.ResetAt.Time.Format(time.RFC3339))
	}
	return strings.Join(parts, ", ")
}
