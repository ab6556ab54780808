package gate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// A link is [text](to), or a line "[text]: to".
	linkTo = regexp.MustCompile(`\]\(([^)\s]+)\)|(?m)^\[[^\]]+\]: (\S+)$`)
	// What a heading's anchor leaves out, once it is in lower case and its spaces are hyphens.
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_-]`)
)

// Each link of a page to another page or file of the repo leads there, and to a heading that is there.
func TestTheLinksOfPagesLeadSomewhere(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(page string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		for _, n := range linkTo.FindAllStringSubmatch(quoted.ReplaceAllString(readPage(t, page), ""), -1) {
			to, anchor, _ := strings.Cut(n[1]+n[2], "#")
			if strings.Contains(to, ":") {
				continue // elsewhere
			}
			found++
			at := page
			if to != "" {
				at = filepath.Join(filepath.Dir(page), to)
			}
			if !assert.FileExists(t, fileAt(at), "%s links to %s", page, to) || anchor == "" {
				continue
			}
			assert.Contains(t, anchors(readPage(t, fileAt(at))), anchor, "%s links to %s#%s", page, to, anchor)
		}
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, found, 250, "the links are found")
}

// readPage returns a page without its blocks of code.
func readPage(t *testing.T, page string) string {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	return fenced.ReplaceAllString(string(text), "")
}

// fileAt is what is read at a link: of a folder its page or, without one, any of its files.
func fileAt(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	for _, pattern := range []string{"README.md", "*"} {
		if found, _ := filepath.Glob(filepath.Join(path, pattern)); len(found) > 0 {
			for _, file := range found {
				if info, err := os.Stat(file); err == nil && !info.IsDir() {
					return file
				}
			}
		}
	}
	return path
}

// anchors returns the anchors of the headings of a page.
func anchors(page string) (all []string) {
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		anchor := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(h[1])), " ", "-")
		all = append(all, notInAnchors.ReplaceAllString(anchor, ""))
	}
	return all
}
