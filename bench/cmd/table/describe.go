package main

import (
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

// describe says where and how the table was made, and with which versions of the peers.
func describe(ctx context.Context, s settings, m measured) (string, error) {
	peers, err := versions()
	if err != nil {
		return "", err
	}
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	lines := []string{
		fmt.Sprintf("Medians of %d rounds in one sitting, %s, commit %s: %s/%s, %d cores (%s), %s.", m.rounds(),
			time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), m.cpu, runtime.Version()),
		"Times differ between machines and days: what counts is the ratio within a row, and the allocations. A ratio is to the line of the row whose",
		"ratio is 1. To repeat: `make bench`, or in `bench/`",
		fmt.Sprintf("`go run ./cmd/table -count %d -benchtime %s -sessions %d`.", s.count, s.benchtime, s.sessions),
		"", "Peers: " + strings.Join(peers, ", ") + ".",
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// versions are those of the direct requirements of all modules here, but for our own and for what only tests use.
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
	"github.com/retake-go/", "github.com/stretchr/", "github.com/benbjohnson/", "github.com/invopop/", "github.com/openai/openai-go", "google.golang.org/genai",
}
