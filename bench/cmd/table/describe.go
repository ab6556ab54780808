package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// ignored are the keys that may differ between compared results.
const ignored = "cpu,cores,toolchain,date,commit,command"

// heading begins the results, in the form that benchstat reads.
func heading(ctx context.Context, s settings) string {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return fmt.Sprintf("date: %s\ncommit: %s\ntoolchain: %s\ncores: %d\ncommand: go run ./cmd/table -count %d -benchtime %s -sessions %d\n",
		time.Now().UTC().Format(time.DateOnly), bytes.TrimSpace(commit), runtime.Version(), runtime.NumCPU(), s.count, s.benchtime, s.sessions)
}

// describe returns where and how the results were made, and the versions of the other libraries.
func describe(m measured) (string, error) {
	peers, err := versions()
	if err != nil {
		return "", err
	}
	of := m.about
	lines := []string{
		fmt.Sprintf("Medians of %d rounds in one sitting, %s, commit %s: %s/%s, %s cores (%s), %s.", m.rounds(),
			of["date"], of["commit"], of["goos"], of["goarch"], of["cores"], of["cpu"], of["toolchain"]),
		"Times differ between machines and days. Compare the ratios within a row, and the allocations. A ratio is to the line of the row whose ratio is 1.",
		"To repeat: `make bench`, or in `bench/` `" + of["command"] + "`.",
		"", "Peers: " + strings.Join(peers, ", ") + ".",
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// versions returns the direct requirements of all modules, without retake's own and those of tests.
func versions() ([]string, error) {
	files, err := filepath.Glob("peers/*/go.mod")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, file := range append(files, "go.mod") {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(strings.TrimPrefix(line, "require "))
			if len(fields) == 2 && strings.HasPrefix(fields[1], "v") && !slices.ContainsFunc(notPeers, func(p string) bool { return strings.HasPrefix(fields[0], p) }) {
				all = append(all, fields[0]+" "+fields[1])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

var notPeers = []string{
	"github.com/retake-go/", "github.com/stretchr/", "github.com/benbjohnson/", "github.com/invopop/", "github.com/openai/openai-go", "google.golang.org/genai", "golang.org/x/perf",
}
