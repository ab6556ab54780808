package kittest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
)

const (
	repo    = "../../../"
	wireDoc = repo + "docs/wire.md"
)

// shown is a place in the page that shows part of a golden file: file, section, and member of its body.
var shown = regexp.MustCompile(`(?s)<!-- golden (\S+) (\S+) (\S+) -->\n.*?<!-- end -->\n`)

// The page shows what the adapters send.
func TestThePageShowsWhatIsSent(t *testing.T) {
	page, err := os.ReadFile(wireDoc)
	require.NoError(t, err)
	var files []string
	got := shown.ReplaceAllStringFunc(string(page), func(place string) string {
		at := shown.FindStringSubmatch(place)
		files = append(files, at[1])
		part := partOf(t, repo+at[1], at[2], at[3])
		return fmt.Sprintf("<!-- golden %s %s %s -->\n```json\n%s\n```\n<!-- end -->\n", at[1], at[2], at[3], part)
	})
	if Rewriting() {
		require.NoError(t, os.WriteFile(wireDoc, []byte(got), 0o644))
		return
	}
	assert.Equal(t, string(page), got, "docs/wire.md: where the change is meant: cd adapter/kit && go test ./kittest -args -rewrite")
	for _, story := range storyPaths(t) {
		assert.Contains(t, files, story, "docs/wire.md does not show it")
	}
}

// storyPaths are the stories of every adapter, by their paths in the repo.
func storyPaths(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"adapter/*/testdata/story/two_bookings.txtar", "adapter/*/testdata/*/story/two_bookings.txtar"} {
		found, err := filepath.Glob(repo + pattern)
		require.NoError(t, err)
		for _, path := range found {
			all = append(all, filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(repo))))
		}
	}
	require.GreaterOrEqual(t, len(all), 6)
	return all
}

// partOf is a member of a section's JSON body. If it is a conversation, it begins with the first call.
func partOf(t *testing.T, path, section, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == section })
	require.GreaterOrEqual(t, at, 0, "%s has no section %s", path, section)
	body := archive.Files[at].Data
	if _, after, hasHead := bytes.Cut(body, []byte("\n\n")); hasHead {
		body = after
	}
	o, ok := kit.ReadObject(body)
	require.True(t, ok, "%s: %s has no JSON body", path, section)
	value := o.Get(name)
	require.NotNil(t, value, "%s: %s has no member %s", path, section, name)
	if inner, isObject := kit.ReadObject(value); isObject {
		value = inner.Without("_meta").JSON()
	} else if items := kit.Items(value); items != nil {
		value = kit.List(items[slices.IndexFunc(items, isNotPrompt):]...)
	}
	return fold(value, "")
}

func isNotPrompt(item json.RawMessage) bool {
	o, _ := kit.ReadObject(item)
	return o.Text("role") != "system" && o.Text("role") != "user"
}

// width is the length in bytes above which a line of JSON is broken.
const width = 110

// fold writes JSON on as few lines as fit.
func fold(raw json.RawMessage, indent string) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil && len(indent)+b.Len() <= width {
		return b.String()
	}
	within := indent + "  "
	var lines []string
	open, end := "{", "}"
	if o, isObject := kit.ReadObject(raw); isObject {
		for _, m := range o {
			lines = append(lines, within+string(kit.Quote(m.Name))+": "+fold(m.Value, within))
		}
	} else if items := kit.Items(raw); items != nil {
		open, end = "[", "]"
		for _, item := range items {
			lines = append(lines, within+fold(item, within))
		}
	} else {
		return b.String()
	}
	return open + "\n" + strings.Join(lines, ",\n") + "\n" + indent + end
}

// Who knows one adapter knows all: the same things stand in files of the same names.
func TestAdaptersHaveTheSameFiles(t *testing.T) {
	for _, dir := range []string{"adapter/kit/chat", "adapter/kit/claude", "adapter/genai", "adapter/ollama"} {
		for _, name := range []string{"config", "doc", "errors", "media", "model", "opaque", "reply", "request", "schema", "stream", "turns"} {
			assert.FileExists(t, repo+dir+"/"+name+".go")
		}
	}
}
