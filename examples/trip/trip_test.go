package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; inspect the diff before it is committed")

// TestMain makes the test binary the MCP server where the program would start itself. It also removes
// settings of the machine, because the SDKs read them from the environment.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == serveFlag {
		exit(serve(context.Background()))
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{"OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_"} {
			if strings.HasPrefix(name, prefix) && os.Unsetenv(name) != nil {
				panic(name)
			}
		}
	}
	m.Run()
}

const secret = "sk-of-the-test"

func keys(name string) string {
	if strings.HasSuffix(name, "_API_KEY") {
		return secret
	}
	return ""
}

// book runs the program and returns its output.
func book(t *testing.T, args ...string) (string, error) {
	t.Helper()
	tr, err := parse(args, keys, t.Output())
	require.NoError(t, err)
	var out bytes.Buffer
	err = tr.run(t.Context(), &out)
	return out.String(), err
}

// golden compares the output with a file, or rewrites the file.
func golden(t *testing.T, got string) {
	t.Helper()
	const path = "testdata/trip.txt"
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "where the change is meant: go test . -args -rewrite, and read the diff")
}

func TestTheScriptedTripIsBooked(t *testing.T) {
	got, err := book(t)
	require.NoError(t, err)
	golden(t, got)
}

// The same conversation through each provider's API prints the same bytes, and no key.
func TestEveryProviderBooksTheSameTrip(t *testing.T) {
	want, err := os.ReadFile("testdata/trip.txt")
	require.NoError(t, err)
	for name, says := range encoders {
		t.Run(name, func(t *testing.T) {
			s := serveScript(t, says)
			got, err := book(t, "-provider", name, "-base-url", s.url(name), "-model", "a-model")
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
			for _, r := range s.requests() {
				assert.Contains(t, r, "a-model", "the model that was asked for")
				assert.Equal(t, len(providers[name].keys) > 0, strings.Contains(r, secret), "the key, where one is needed")
			}
		})
	}
}

func TestRateLimitsAreTold(t *testing.T) {
	s := serveScript(t, encoders["openai"])
	s.header.Set("X-Ratelimit-Limit-Requests", "50")
	s.header.Set("X-Ratelimit-Remaining-Requests", "44")
	got, err := book(t, "-provider", "openai", "-base-url", s.url("openai"))
	require.NoError(t, err)
	assert.Contains(t, got, "Rate limit: 44 of 50 requests left\n")
}

func TestAProviderThatRefusesEndsTheRun(t *testing.T) {
	for name := range encoders {
		t.Run(name, func(t *testing.T) {
			s := serveScript(t, nil)
			s.status = 401
			got, err := book(t, "-provider", name, "-base-url", s.url(name))
			require.Error(t, err)
			var auth *fault.AuthError
			require.ErrorAs(t, err, &auth)
			assert.Contains(t, got, "auth (transport)")
			assert.NotContains(t, got+err.Error(), secret)
		})
	}
}

func TestAJournalIsKept(t *testing.T) {
	dir := t.TempDir()
	_, err := book(t, "-journal", dir, "-session", "order-42")
	require.NoError(t, err)
	doc, err := os.Open(filepath.Join(dir, journal.FileName("order-42")))
	require.NoError(t, err)
	defer doc.Close()
	var steps bytes.Buffer
	require.NoError(t, journal.Trace(doc, &steps))
	assert.Contains(t, steps.String(), "book_room")
}

func TestTheCommandLineIsChecked(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-provider", "openai"}, "there is no key: set the environment variable OPENAI_API_KEY"},
		{[]string{"-provider", "anthropic"}, "there is no key: set the environment variable ANTHROPIC_API_KEY"},
		{[]string{"-provider", "gemini"}, "there is no key: set the environment variable GEMINI_API_KEY or GOOGLE_API_KEY"},
		{[]string{"-provider", "gpt"}, `-provider: "gpt" is none of anthropic, gemini, ollama, openai, scripted`},
		{[]string{"openai"}, `"openai": there are only flags; see -help`},
	} {
		_, err := parse(c.args, none, t.Output())
		assert.EqualError(t, err, c.want)
	}
	for name, p := range providers {
		tr, err := parse([]string{"-provider", name}, keys, t.Output())
		require.NoError(t, err)
		assert.Equal(t, p.fallback, tr.settings.model)
	}
}

func TestTheServerRefusesBadBookings(t *testing.T) {
	for b, want := range map[booking]string{
		{"Pensao Sol", "single", 2}: "Pensao Sol has no single room.",
		{"Savoy", "double", 2}:      `There is no hotel "Savoy". Ask find_hotel.`,
		{"ritz", "double", 3}:       "",
	} {
		_, got, err := bookRoom(t.Context(), nil, b)
		if want == "" {
			require.NoError(t, err)
			assert.Equal(t, receipt{"R-ritz-3", 930}, got)
		} else {
			assert.EqualError(t, err, want)
		}
	}
	_, _, err := findHotel(t.Context(), nil, search{City: "Faro"})
	assert.EqualError(t, err, "No hotel in Faro. There are some in Lisbon and Porto.")
}
