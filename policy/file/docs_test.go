package file_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/policy/file"
)

// A block is "```yaml", its lines and "```", all with the same indentation.
var yamlBlock = regexp.MustCompile("(?ms)^( *)```yaml[^\n]*\n(.*?)^ *```$")

// Every policy in the documentation is a file that is read. docs/fleet.md has the files of retake simulate.
func TestThePoliciesOfTheDocsAreRead(t *testing.T) {
	found := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/guides/*.md", "adapter/*/README.md", "examples/*/README.md"} {
		pages, err := filepath.Glob("../../" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, pages, pattern)
		for _, page := range pages {
			if page == "../../docs/fleet.md" {
				continue
			}
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
				policy := strings.ReplaceAll("\n"+block[2], "\n"+block[1], "\n")
				_, err := file.Read("policy.yaml", []byte(policy))
				assert.NoError(t, err, "%s:%s", page, policy)
				_, err = file.ReadFleet("policy.yaml", []byte(policy))
				assert.NoError(t, err, "%s:%s", page, policy)
				found++
			}
		}
	}
	assert.Greater(t, found, 10, "the blocks are found")
}
