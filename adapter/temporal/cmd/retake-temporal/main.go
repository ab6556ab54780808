package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/retake-go/retake/adapter/temporal"
)

// The exit statuses.
const (
	exitOK      = 0
	exitDiffers = 1
	exitTrouble = 2
)

const usage = `retake-temporal turns histories of runs on Temporal into journals, and replays them.

  retake-temporal export -history FILE [-history FILE ...] [-out FILE]
  retake-temporal export -address HOST:PORT [-namespace NAME] -id SESSION [-out FILE]
  retake-temporal replay (-history FILE ... | -address HOST:PORT -id SESSION)

A history is the JSON of "temporal workflow show --output json"; "-" reads it from the standard input. If a
run continued in new histories, give all of them, oldest first; -id finds all of them. This command cannot
read payloads of your own data converter: call temporal.Export in Go for that.
`

// source is the place of the histories.
type source struct {
	files                  files
	address, namespace, id string
	out                    string
}

// files is a flag that can be repeated.
type files []string

func (f *files) String() string { return strings.Join(*f, ", ") }

func (f *files) Set(s string) error {
	*f = append(*f, s)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// errDiffers means that a replay differs.
var errDiffers = errors.New("the replay differs")

func run(ctx context.Context, args []string, in io.Reader, out, trouble io.Writer) int {
	err := perform(ctx, args, in, out)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return exitOK
	case errors.Is(err, errDiffers):
		fmt.Fprintln(trouble, "retake-temporal:", err)
		return exitDiffers
	}
	fmt.Fprintln(trouble, "retake-temporal:", err)
	return exitTrouble
}

// verb does something with the histories of a run.
type verb func(context.Context, source, []*historypb.History, io.Writer) error

var commands = map[string]verb{"export": export, "replay": replay}

func perform(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("a command is missing: use export or replay\n%s", usage)
	}
	do, ok := commands[args[0]]
	switch {
	case args[0] == "help" || args[0] == "-h" || args[0] == "--help":
		return flag.ErrHelp
	case !ok:
		return fmt.Errorf("there is no command %q: use export or replay", args[0])
	}
	s, err := readFlags(args[0], args[1:])
	if err != nil {
		return err
	}
	histories, err := s.histories(ctx, in)
	if err != nil {
		return err
	}
	return do(ctx, s, histories, out)
}

func readFlags(command string, args []string) (s source, err error) {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Var(&s.files, "history", "a history as JSON")
	fs.StringVar(&s.address, "address", "", "the server")
	fs.StringVar(&s.namespace, "namespace", client.DefaultNamespace, "the namespace")
	fs.StringVar(&s.id, "id", "", "the id of the session")
	if command == "export" {
		fs.StringVar(&s.out, "out", "", "the file of the journal; the standard output by default")
	}
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	switch {
	case fs.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q: use -history for files", fs.Arg(0))
	case len(s.files) > 0 && (s.address != "" || s.id != ""):
		return s, errors.New("-history: use either files, or -address and -id")
	case len(s.files) == 0 && (s.address == "" || s.id == ""):
		return s, errors.New("-history is missing: use files, or -address and -id")
	}
	return s, nil
}

func (s source) histories(ctx context.Context, in io.Reader) ([]*historypb.History, error) {
	if len(s.files) == 0 {
		silent := log.NewStructuredLogger(slog.New(slog.DiscardHandler)) // errors are returned
		c, err := client.DialContext(ctx, client.Options{HostPort: s.address, Namespace: s.namespace,
			Logger: silent})
		if err != nil {
			return nil, err
		}
		defer c.Close()
		return temporal.Histories(ctx, c, s.id)
	}
	all := make([]*historypb.History, len(s.files))
	for n, path := range s.files {
		doc, err := read(path, in)
		if err == nil {
			all[n], err = client.HistoryFromJSON(bytes.NewReader(doc), client.HistoryJSONOptions{})
		}
		if err != nil {
			return nil, fmt.Errorf("-history %s: %w", path, err)
		}
	}
	return all, nil
}

func read(path string, in io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(path)
}

func export(ctx context.Context, s source, histories []*historypb.History, out io.Writer) error {
	var journal bytes.Buffer
	if err := (temporal.Export{}).Journal(ctx, histories, &journal); err != nil {
		return err
	}
	if s.out != "" {
		return os.WriteFile(s.out, journal.Bytes(), 0o600)
	}
	_, err := out.Write(journal.Bytes())
	return err
}

func replay(_ context.Context, _ source, histories []*historypb.History, out io.Writer) error {
	if err := (temporal.Export{}).Replay(histories); err != nil {
		return fmt.Errorf("%w: %w", errDiffers, err)
	}
	events := 0
	for _, h := range histories {
		events += len(h.GetEvents())
	}
	_, err := fmt.Fprintf(out, "same decisions (histories: %d, events: %d)\n", len(histories), events)
	return err
}
