package kittest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// Key is the API key for clients. It is redacted in golden requests, and must not be in an error's text.
const Key = "wiretest-secret-key"

// Config is an adapter under test, and what its API says.
type Config struct {
	// New makes the model. Its client sends requests to url through client, with [Key] if it needs one.
	// Required.
	New func(url string, client *http.Client) (loop.Model, error)
	// Whole are bodies of good replies with the text "Yes.", not streamed, in every form of the API: at
	// least one.
	Whole []string
	// Streams are streamed bodies with that text. None means that the API has no other form for them.
	Streams []string
	// StreamType is the content type of a stream; empty is text/event-stream.
	StreamType string
	// Keys are further responses that repeat a key, by name, with "{key}" in its place.
	Keys map[string]string
	// Accepts returns why the API would refuse the body of a request; nil if it takes it. It is asked about
	// random transcripts. A nil Accepts takes all that is one strict JSON object.
	Accepts func(body []byte) error
	// Opaque is data that the adapter could have kept of a message, and some that it could not have.
	Opaque []string
	// Scripts is a directory with the files of calls (wire) and of runs (story); empty for none.
	Scripts string
	// Without has cases that are impossible with the provider, each with the reason.
	Without map[string]string
}

// Run tests that an adapter is one, in a subtest for each of its duties: see the package.
func Run(t *testing.T, c Config) {
	t.Helper()
	require.NoError(t, c.validate())
	for _, duty := range duties {
		t.Run(duty.name, func(t *testing.T) { duty.test(t, c) })
	}
}

// duties are what an adapter must do.
var duties = []struct {
	name string
	test func(*testing.T, Config)
}{
	{"requests", requests}, {"shortened", shortened}, {"bounds", bounds}, {"replies", replies}, {"bodies", bodies},
	{"errors", statuses}, {"cuts", cuts}, {"every cut", everyCut}, {"redirects", redirects},
	{"keys", keys}, {"wire", wire}, {"story", stories},
}

func (c Config) validate() error {
	switch {
	case c.New == nil:
		return errors.New("kittest: New: is nil; give the function that makes the model")
	case len(c.Whole) == 0:
		return errors.New(`kittest: Whole: is empty; give the body of a reply with the text "Yes."`)
	case c.Scripts == "" && len(c.Without) > 0:
		return errors.New("kittest: Without: needs Scripts")
	}
	return nil
}

// bothWays tests a call that asks for a stream, and one that does not.
func bothWays(t *testing.T, name string, test func(t *testing.T, stream bool)) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("%s/stream=%v", name, stream), func(t *testing.T) { test(t, stream) })
	}
}

// plain is the ask of that name, which may ask for a stream.
func plain(stream bool) loop.Request {
	req := Asks()["plain"]
	if stream {
		req.Stream = func(loop.Delta) {}
	}
	return req
}

// caller is a test, or one of package rapid.
type caller interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// reply makes one call of the adapter at an address.
func reply(t caller, c Config, url string, client *http.Client, req loop.Request) (message.Reply, error) {
	t.Helper()
	model, err := c.New(url, client)
	require.NoError(t, err)
	return model.Reply(t.Context(), req)
}

// scripts lists the scripts of a kind, and their folder.
func (c *Config) scripts(t *testing.T, kind string) (dir string, files []string) {
	if c.Scripts == "" {
		t.Skip("Scripts of the Config is not set: it names the folder of the adapter's scripts")
	}
	dir = filepath.Join(c.Scripts, kind)
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	require.NoError(t, err)
	return dir, files
}

// wire makes a call of Reply for each script of one.
func wire(t *testing.T, c Config) {
	dir, files := c.scripts(t, "wire")
	var names []string
	for _, path := range files {
		names = append(names, nameOf(path))
	}
	for _, fault := range missing(names, c.Without) {
		t.Error(dir + ": " + fault)
	}
	for _, path := range files {
		t.Run(nameOf(path), func(t *testing.T) { runCase(t, path, c) })
	}
}

func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txtar") }

// missing returns cases without a file or excuse, and excuses that are not needed.
func missing(names []string, without map[string]string) []string {
	var faults []string
	for _, name := range caseNames() {
		there := slices.Contains(names, name)
		reason, excused := without[name]
		switch {
		case there && excused:
			faults = append(faults, name+" is there and excused: take it out of Without")
		case excused && strings.TrimSpace(reason) == "":
			faults = append(faults, name+" is excused without a reason: give one")
		case !there && !excused:
			faults = append(faults, name+".txtar is missing: write it, or excuse it in Without")
		}
	}
	for name := range without {
		if !slices.Contains(caseNames(), name) {
			faults = append(faults, name+" is excused and no case: take it out of Without")
		}
	}
	slices.Sort(faults)
	return faults
}

func runCase(t *testing.T, path string, c Config) {
	file := readFile(t, path)
	responses := file.responses(t)
	req := file.request(t)
	s := serve(t, responses)
	model, err := c.New(s.URL, s.Client)
	require.NoError(t, err)

	got := ask(t, s, model, req)
	s.finish()
	file.compare(t, s.Requests(), got.golden(t))
	if needs, known := cases[nameOf(path)]; known {
		require.True(t, needs.met(got), "what the case is about: %s", needs.want)
	}
}
