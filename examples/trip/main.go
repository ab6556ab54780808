// Command trip books a trip with any provider's model: it finds a hotel, books a room and answers with a
// typed itinerary. The tools are those of an MCP server in another process. Wrong calls, and calls that the
// server refuses, are corrected.
//
//	go run . -provider scripted
//	ANTHROPIC_API_KEY=… go run . -provider anthropic -journal journals
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

func main() {
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	if len(os.Args) == 2 && os.Args[1] == serveFlag {
		exit(serve(ctx))
	}
	t, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = t.run(ctx, os.Stdout)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "trip:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// trip has the settings of one run.
type trip struct {
	provider string
	settings settings
	prompt   string
	session  string
	// journals is the folder of the session's journal; empty for none.
	journals string
}

const prompt = "Two nights in Lisbon for one person, as cheap as it gets. Book it, then give me the itinerary."

// Itinerary is the answer.
type Itinerary struct {
	City    string `json:"city"    validate:"required"`
	Hotel   string `json:"hotel"   validate:"required"`
	Room    string `json:"room"    validate:"oneof=single double"`
	Nights  int    `json:"nights"  validate:"min=1,max=30"`
	Euros   int    `json:"euros"   validate:"min=1"                   jsonschema:"description=The price of the whole stay"`
	Receipt string `json:"receipt" validate:"required,startswith=R-" jsonschema:"description=As the booking gave it"`
}

// parse reads the command line; keys come from the environment. Faults are printed on out.
func parse(args []string, env func(string) string, out io.Writer) (trip, error) {
	var t trip
	flags := flag.NewFlagSet("trip", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&t.provider, "provider", "scripted", "whose model: "+names())
	flags.StringVar(&t.settings.model, "model", "", "the model's name at the provider (default: one of its own)")
	flags.StringVar(&t.settings.baseURL, "base-url", "", "where the provider's API is (default: the provider's own address)")
	flags.StringVar(&t.journals, "journal", "", "the folder to keep the run's journal in (default: none is kept)")
	flags.StringVar(&t.session, "session", time.Now().UTC().Format("trip-20060102-150405"), "the session's id, which names the journal")
	flags.StringVar(&t.prompt, "prompt", prompt, "what to ask for")
	if err := flags.Parse(args); err != nil {
		return t, err
	}
	if flags.NArg() > 0 {
		return t, fmt.Errorf("%q: there are only flags; see -help", flags.Arg(0))
	}
	p, known := providers[t.provider]
	if !known {
		return t, fmt.Errorf("-provider: %q is none of %s", t.provider, names())
	}
	return t, p.complete(&t.settings, env)
}

// run executes the conversation.
func (t trip) run(ctx context.Context, out io.Writer) (err error) {
	say := narration{out: out}
	t.settings.told = say.limits
	model, err := providers[t.provider].model(t.settings)
	if err != nil {
		return err
	}
	tools, stop, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	of := session.Config{ID: t.session}
	if t.journals != "" {
		j, err := journal.Open(ctx, journal.Dir(t.journals), t.session, journal.Settings{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, j.Close()) }()
		of.Journal = j
	}
	s, err := session.New(of)
	if err != nil {
		return err
	}
	l, err := loop.New(say.of(model), loop.Config{System: system, Tools: tools, Seed: t.session})
	if err != nil {
		return err
	}
	answer, err := loop.Generate[Itinerary](ctx, l, s, loop.Input{Prompt: t.prompt})
	if exhausted, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
		say.end(exhausted.Attempts, exhausted.Usage)
		return err
	}
	if err != nil {
		return err
	}
	say.outcome(answer)
	say.end(answer.Attempts, answer.Usage)
	return nil
}

const system = "You book trips with the tools you are given. Never invent a hotel, a price or a receipt."
