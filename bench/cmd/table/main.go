// Command table runs the benchmarks of all modules together and writes the results into docs/benchmarks.md.
// Run it in the folder bench:
//
//	go run ./cmd/table                      # everything: about a quarter of an hour
//	go run ./cmd/table -count 1 -benchtime 20ms -sessions 2000 -docs ''   # a quick try
//	go run ./cmd/table -from results.txt    # only the table, from saved results
//	go run ./cmd/table -top                 # profiles a run and prints where its time goes
//
// All benchmarks are built first. Then each of -count rounds runs every benchmark once, so that noise of the
// machine affects all lines of a row. The results go into the file -results, and benchstat compares them with
// -baseline. With -save they become the new baseline.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// benchstat compares results.
const benchstat = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"

type settings struct {
	count                         int
	benchtime, only               string
	sessions                      int
	docs, results, baseline, from string
	save, top                     bool
}

func main() {
	var s settings
	flag.IntVar(&s.count, "count", 6, "number of rounds; each runs every benchmark once")
	flag.StringVar(&s.benchtime, "benchtime", "300ms", "time of each benchmark in each round")
	flag.StringVar(&s.only, "only", "", "run only the suite of this folder, such as retry")
	flag.IntVar(&s.sessions, "sessions", 100_000, "number of sessions that wait at the same time")
	flag.StringVar(&s.docs, "docs", "../docs/benchmarks.md", "file in which the table is written between two markers; empty prints it")
	flag.StringVar(&s.results, "results", "results.txt", "file for the output of the benchmarks")
	flag.StringVar(&s.baseline, "baseline", "baseline.txt", "results to compare with")
	flag.StringVar(&s.from, "from", "", "make the table from these results and run nothing")
	flag.BoolVar(&s.save, "save", false, "make the results the new baseline after the comparison")
	flag.BoolVar(&s.top, "top", false, "only profile the row of runs, and print where its time goes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	if s.count < 1 || flag.NArg() > 0 {
		return errors.New("-count must be at least 1, and arguments are not allowed")
	}
	if s.only != "" && (s.docs != "" || s.save) {
		return errors.New("-only does not make the whole table: use -docs '' and leave out -save")
	}
	if s.top {
		return top(ctx, s)
	}
	text, err := results(ctx, s)
	if err != nil {
		return err
	}
	parsed, err := parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	about, err := describe(parsed)
	if err != nil {
		return err
	}
	if err := publish(s.docs, render(about, parsed, rows)); err != nil {
		return err
	}
	if s.from == "" {
		compare(ctx, s)
	}
	if s.save {
		return os.WriteFile(s.baseline, text, 0o644)
	}
	return nil
}

func results(ctx context.Context, s settings) ([]byte, error) {
	if s.from != "" {
		return os.ReadFile(s.from)
	}
	text, err := measure(ctx, s)
	if err != nil {
		return nil, err
	}
	return text, os.WriteFile(s.results, text, 0o644)
}

// compare prints benchstat's comparison. The table is kept even if there is no baseline or no benchstat.
func compare(ctx context.Context, s settings) {
	if _, err := os.Stat(s.baseline); err != nil {
		fmt.Fprintln(os.Stderr, "table: nothing to compare with:", err)
		return
	}
	cmd := exec.CommandContext(ctx, "go", "run", benchstat, "-ignore", ignored, s.baseline, s.results)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "table: benchstat:", err)
	}
}
