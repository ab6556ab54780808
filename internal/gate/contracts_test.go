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

// Each test and each story that docs/contracts.md names is there.
func TestTheTestsOfContractsExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/contracts.md")
	require.NoError(t, err)
	known := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, f := range declared.FindAllSubmatch(text, -1) {
			known[string(f[1])] = true
		}
		return err
	}))
	stories, err := filepath.Glob("../../testdata/scenarios/*.txt")
	require.NoError(t, err)
	for _, story := range stories {
		known[strings.TrimSuffix(filepath.Base(story), ".txt")] = true
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+|[a-z]+(?:_[a-z]+){3,})[`/]").FindAllSubmatch(page, -1)
	require.NotEmpty(t, named)
	for _, n := range named {
		if name := string(n[1]); !strings.HasPrefix(name, "build_rate_limit") {
			assert.True(t, known[name], name)
		}
	}
}
