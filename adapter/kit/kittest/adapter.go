package kittest

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
)

// Key is the API key for clients. It is redacted in golden requests, and must not be in an error's text.
const Key = "wiretest-secret-key"

// Adapter is the adapter under test.
type Adapter struct {
	// New makes the model. Its client sends requests to url through client, with [Key] if it needs one.
	// Required; called once per file.
	New func(url string, client *http.Client) (loop.Model, error)
	// Without has cases of [Cases] that are impossible with the provider, each with the reason.
	Without map[string]string
	// Volatile are further headers, in any case, that differ between runs or machines.
	Volatile []string
}

// Run tests the adapter with every *.txtar file of a directory, each a subtest with its name. It fails if
// one of [Cases] is missing.
func Run(t *testing.T, dir string, a Adapter) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	require.NoError(t, err)
	var names []string
	for _, path := range files {
		names = append(names, nameOf(path))
	}
	for _, fault := range missing(names, a.Without) {
		t.Error(dir + ": " + fault)
	}
	for _, path := range files {
		t.Run(nameOf(path), func(t *testing.T) { runCase(t, path, a) })
	}
}

func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txtar") }

// missing returns cases without a file or excuse, and excuses that are not needed.
func missing(names []string, without map[string]string) []string {
	var faults []string
	for _, name := range Cases() {
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
		if !slices.Contains(Cases(), name) {
			faults = append(faults, name+" is excused and no case: see Cases")
		}
	}
	slices.Sort(faults)
	return faults
}

func runCase(t *testing.T, path string, a Adapter) {
	file := readFile(t, path)
	responses := file.responses(t)
	req := file.request(t)
	s := serve(t, a.Volatile, responses)
	model, err := a.New(s.URL, s.Client)
	require.NoError(t, err)

	got := ask(t.Context(), t, s, model, req)
	s.finish()
	file.compare(t, s.Requests(), got.golden(t))
	if look, known := cases[nameOf(path)]; known {
		require.Empty(t, look(got), "what the case is about")
	}
}
