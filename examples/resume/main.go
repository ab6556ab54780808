// Resume kills a process in the middle of a run (kill -9), and makes the same call again in another one.
// The run continues from its journal, and the room is booked once.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Stay is the answer.
type Stay struct {
	Room string `json:"room"`
}

type booking struct {
	City string `json:"city"`
}

func main() {
	var err error
	if len(os.Args) == 4 && os.Args[1] == "work" {
		err = work(os.Args[2], os.Args[3] == "hangs")
	} else {
		err = watch()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "resume:", err)
		os.Exit(1)
	}
}

// work answers one request, with the same code before and after the crash: Generate begins the run, or
// continues it. With hangs, the model never answers after the room is booked.
func work(dir string, hangs bool) error {
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	j, err := journal.Open(ctx, journal.Dir(dir), "order-42", journal.Settings{})
	if err != nil {
		return err
	}
	defer j.Close()
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		return err
	}
	tools, err := tool.NewSet(tool.New("book_room", "Books a room.", func(_ context.Context, b booking) (string, error) {
		return "room 7", book(dir, b.City)
	}))
	if err != nil {
		return err
	}
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		if len(req.Messages) == 1 {
			return message.Reply{Calls: []message.Call{{ID: "c1", Name: "book_room", Arguments: `{"city": "Lisbon"}`}}}, nil
		}
		fmt.Println("the model is asked for its answer")
		for hangs {
			_, _ = io.ReadAll(os.Stdin) // until somebody kills this process
		}
		return message.Reply{Text: `{"room": "room 7"}`}, nil
	})
	l, err := loop.New(model, loop.Config{Tools: tools})
	if err != nil {
		return err
	}
	stay, err := loop.Generate[Stay](ctx, l, s, loop.Input{Prompt: "A room in Lisbon."})
	if err != nil {
		return err
	}
	fmt.Printf("answer: %s, after %d attempts\n", stay.Value.Room, len(stay.Attempts))
	return nil
}

// book is the effect that must happen once.
func book(dir, city string) error {
	f, err := os.OpenFile(filepath.Join(dir, "bookings"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, city)
	return errors.Join(err, f.Close())
}

// watch runs work in a process, kills it, and runs it again in another one.
func watch() error {
	dir, err := os.MkdirTemp("", "resume")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	first := exec.Command(os.Args[0], "work", dir, "hangs")
	in, err := first.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := first.StdoutPipe()
	if err != nil {
		return err
	}
	if err := first.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	fmt.Print("first process: ", line)
	if err := first.Process.Kill(); err != nil {
		return err
	}
	fmt.Println("first process:", first.Wait())

	said, err := exec.Command(os.Args[0], "work", dir, "answers").Output()
	if err != nil {
		return err
	}
	for text := range strings.Lines(string(said)) {
		fmt.Print("second process: ", text)
	}
	bookings, err := os.ReadFile(filepath.Join(dir, "bookings"))
	fmt.Println("bookings:", strings.Count(string(bookings), "\n"))
	return err
}
