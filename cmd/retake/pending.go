package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/schema"
)

var pendingCommand = command{
	name:    "pending",
	summary: "lists what waits for a person's answer",
	example: "retake pending runs/",
	usage:   []string{"pending [-json] STORE..."},
	about: `
Lists the questions of all sessions that a person can answer now, with the words that "retake answer" takes:
the session and the call. Journals are read while other processes write them; no lock is taken. Questions
whose answer waits for the run to take it are left out, and so are values that a tool marks as secret.

STORE is a folder of journals (journal.Dir), a SQLite database or an address postgres://…. With -json it
writes {"pending": [{"session", "call", "kind", "tool", "arguments", "rule", "at", "deadline", "default"}]};
a question without a deadline has none, and its arguments are whole.`,
	task: newTask[pending],
}

// pending is one call of the command.
type pending struct {
	jsonAnswer
	stores
	list []pendingQuestion
	// bad counts the sessions that cannot be read, and listed says that some store could not list all.
	bad    int
	listed error
}

func (p *pending) run(e *env) error {
	for _, name := range p.names {
		store, err := e.openInbox(name, toRead)
		if err != nil {
			return err
		}
		p.ofStore(e, name, store)
	}
	if p.JSON {
		if err := e.json(map[string]any{"pending": append([]pendingQuestion{}, p.list...)}); err != nil {
			return err
		}
	}
	if p.bad > 0 {
		return errors.Join(p.listed, fmt.Errorf("%s cannot be read", several.Of(p.bad, "session")))
	}
	return p.listed
}

// ofStore lists the questions of a store, and tells what cannot be read.
func (p *pending) ofStore(e *env, name string, store inbox.Store) {
	now := time.Now()
	for q, err := range inbox.Pending(context.Background(), store, now) {
		switch {
		case err != nil:
			if q.Session != "" {
				p.bad++
			} else {
				p.listed = errors.New("not all sessions could be listed")
			}
			e.warn("%s: %v", title(sessionIn(name, q.Session)), err)
		case q.Answer != nil:
		case p.JSON:
			p.list = append(p.list, pendingOf(&q))
		default:
			e.printf("%s  %s  %s\n", plain(q.Session), plain(q.Call), plain(asked(&q, now)))
		}
	}
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

// asked says what is asked, until when, and about which arguments, without secrets, if it is about a call.
// The sentence of the question itself says how long there was in all.
func asked(q *inbox.Question, now time.Time) string {
	ask := q.Ask
	ask.Deadline = time.Time{}
	text := ask.String()
	if !q.Deadline.IsZero() {
		text += fmt.Sprintf(", until %s UTC (%s left), else %s", q.Deadline.UTC().Format(time.DateTime),
			several.Rough(q.Deadline.Sub(now)), q.Default)
	}
	if arguments := q.Arguments; len(arguments) > 0 {
		if s, err := schema.Compile(q.Schema); err == nil {
			arguments = masked.JSON(arguments, s.Secrets())
		}
		text += ": " + string(arguments)
	}
	return text
}
