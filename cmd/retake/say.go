package main

import (
	"context"
	"time"

	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/session"
)

var sayCommand = command{
	name:    "say",
	summary: "says something to a run that is under way, in whatever process it is",
	example: `retake say order-42 "Rather by train."`,
	usage:   []string{"say [-by NAME] [-stop] [-reset] [STORE] SESSION TEXT"},
	about: `
Puts a user's message into the inbox of a session. It enters the conversation before the next model call:
within a second if a process has the run, when it is resumed otherwise. An answer that the model gives
meanwhile is not the last one.

-stop leaves a model call that is under way and takes back what a person is asked. Attempts and budgets stay
as they are; -reset begins those of failed attempts anew. The store is named as in "retake answer".`,
	task: newTask[say],
}

// say is one call of the command.
type say struct {
	recipient
	Stop  bool `flag:"stop" help:"leave the model call that is under way, and open questions"`
	Reset bool `flag:"reset" help:"begin attempts and their budgets anew"`
	text  string
}

func (s *say) take(args []string) error {
	rest, err := s.recipient.take(args, 1, "SESSION TEXT, the text in quotes")
	if err == nil {
		s.text = rest[0]
	}
	return err
}

func (s *say) run(e *env) error {
	words := session.Words{Text: s.text, By: s.By, At: time.Now(), Stop: s.Stop, Reset: s.Reset}
	return s.put(e, func(ctx context.Context, store inbox.Store) error {
		err := inbox.Say(ctx, store, s.session, words)
		if err == nil {
			e.printf("%s: it is told before the next model call\n", plain(s.session))
		}
		return err
	})
}
