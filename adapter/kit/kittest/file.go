package kittest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
)

// Other test packages have this flag, too; all share the first one.
func init() {
	if flag.Lookup("rewrite") == nil {
		flag.Bool("rewrite", false, "write the golden files anew; inspect the diff before it is committed")
	}
}

// Rewriting reports whether the test binary got -rewrite, for golden files of an adapter's own.
func Rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// file is one scripted case or story.
type file struct {
	path    string
	archive *txtar.Archive
	story   bool
}

func readFile(t testing.TB, path string) *file {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	f := &file{path: path, archive: archive}
	require.NoError(t, f.check())
	return f
}

// check refuses files without a story, and unknown sections.
func (f *file) check() error {
	if len(strings.TrimSpace(string(f.archive.Comment))) == 0 {
		return fmt.Errorf("%s: the comment at the top must tell the story", f.path)
	}
	known := map[string]bool{"ask": true, "outcome": true}
	for n := 1; f.section(fmt.Sprintf("response-%d", n)) != nil; n++ {
		known[fmt.Sprintf("response-%d", n)], known[fmt.Sprintf("request-%d", n)] = true, true
	}
	for _, section := range f.archive.Files {
		if !known[section.Name] {
			return fmt.Errorf("%s: there is no section %q: ask, response-1, response-2, …, request-…, outcome", f.path, section.Name)
		}
	}
	return nil
}

func (f *file) section(name string) []byte {
	for _, s := range f.archive.Files {
		if s.Name == name {
			return append([]byte{}, s.Data...)
		}
	}
	return nil
}

func (f *file) responses(t testing.TB) (all []response) {
	t.Helper()
	for n := 1; ; n++ {
		name := fmt.Sprintf("response-%d", n)
		raw := f.section(name)
		if raw == nil {
			require.NotEmpty(t, all, "%s: there is no response-1", f.path)
			return all
		}
		p, err := parseResponse(string(raw))
		require.NoError(t, err, "%s: %s", f.path, name)
		all = append(all, p)
	}
}

func (f *file) ask(t testing.TB) askFile {
	t.Helper()
	a, err := readAsk(f.section("ask"))
	require.NoError(t, err, f.path)
	return a
}

func (f *file) request(t testing.TB) loop.Request {
	t.Helper()
	req, err := f.ask(t).request()
	require.NoError(t, err, f.path)
	return req
}

// compare compares requests and outcome with the golden sections, or rewrites these.
func (f *file) compare(t testing.TB, requests []string, outcome string) {
	t.Helper()
	if Rewriting() {
		require.NoError(t, os.WriteFile(f.path, txtar.Format(f.rewritten(requests, outcome)), 0o644))
		return
	}
	const advice = "%s: %s: where the change is meant: go test . -args -rewrite, and read the diff"
	for n, got := range requests {
		name := fmt.Sprintf("request-%d", n+1)
		assert.Equal(t, string(f.section(name)), got, advice, f.path, name)
	}
	if !f.story {
		assert.Equal(t, string(f.section("outcome")), outcome, advice, f.path, "outcome")
	}
}

// rewritten returns the sections in order: ask, requests and responses in turn, outcome.
func (f *file) rewritten(requests []string, outcome string) *txtar.Archive {
	out := &txtar.Archive{Comment: f.archive.Comment}
	add := func(name string, data []byte) {
		if data != nil {
			out.Files = append(out.Files, txtar.File{Name: name, Data: data})
		}
	}
	add("ask", f.section("ask"))
	for n := 1; ; n++ {
		response := f.section(fmt.Sprintf("response-%d", n))
		if response == nil {
			break
		}
		if n <= len(requests) {
			add(fmt.Sprintf("request-%d", n), []byte(requests[n-1]))
		}
		add(fmt.Sprintf("response-%d", n), response)
	}
	if !f.story {
		add("outcome", []byte(outcome))
	}
	return out
}
