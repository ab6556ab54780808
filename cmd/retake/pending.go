package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal/inbox"
)

var pendingCommand = command{
	name:    "pending",
	summary: "lists what waits for a person's answer",
	example: "retake pending runs/",
	usage:   []string{"pending [-json] STORE..."},
	about: `
Lists the questions of all sessions that a person can answer now, with the words that "retake answer" takes:
the session and the call. Journals are read while other processes write them; no lock is taken. Questions
whose answer waits for the run to take it are left out.

STORE is a folder of journals (journal.Dir), a SQLite database or an address postgres://…. With -json it
writes {"pending": [{"session", "call", "kind", "tool", "arguments", "rule", "at", "deadline", "default"}]};
a question without a deadline has none.`,
	task: newTask[pending],
}

// pending is one call of the command.
type pending struct {
	jsonAnswer
	stores
}

func (p *pending) run(e *env) error {
	list, bad, listed := []pendingQuestion{}, int64(0), error(nil)
	for _, name := range p.names {
		store, err := e.openInbox(name, true)
		if err != nil {
			return err
		}
		for q, err := range inbox.Pending(context.Background(), store, time.Now()) {
			switch {
			case err != nil:
				if q.Session != "" {
					bad++
				} else {
					listed = errors.New("not all sessions could be listed")
				}
				fmt.Fprintf(e.err, "%s: %v\n", title(sessionIn(name, q.Session)), err)
			case q.Answer != nil:
			case p.JSON:
				list = append(list, pendingOf(&q))
			default:
				e.printf("%s  %s  %s\n", plain(q.Session), plain(q.Call), plain(asked(&q)))
			}
		}
	}
	if p.JSON {
		if err := e.json(map[string]any{"pending": list}); err != nil {
			return err
		}
	}
	if bad > 0 {
		listed = errors.Join(listed, fmt.Errorf("%s cannot be read", several.Of(bad, "session")))
	}
	return listed
}

// pendingQuestion is a question as -json tells it: its deadline is null if it has none.
type pendingQuestion struct {
	inbox.Question
	Deadline *time.Time `json:"deadline"`
}

func pendingOf(q *inbox.Question) pendingQuestion {
	told := pendingQuestion{Question: *q}
	if !q.Deadline.IsZero() {
		told.Deadline = &q.Deadline
	}
	return told
}

// asked says what is asked, and about which arguments, if it is about a call.
func asked(q *inbox.Question) string {
	if len(q.Arguments) == 0 {
		return q.String()
	}
	return q.String() + ": " + string(q.Arguments)
}
