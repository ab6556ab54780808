package gate_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/gate"
)

// Adapters are also built with later versions of the core, so they may only use its public packages. Go
// itself would let them import internal/, because their paths begin with the core's. The command may do so: a
// program is built with the version of the core that its own go.mod names. So may the benchmarks, which are
// never built but beside the core.
func TestOtherModulesImportPublicPackages(t *testing.T) {
	faults, files := importsOfInternal(t, "../..")
	assert.Empty(t, faults)
	assert.Greater(t, files, 100, "the files of the other modules are read")
}

func TestAnImportOfInternalIsFound(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "adapter", "planted")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module planted\n"), 0o644))
	code := "package planted\n\nimport _ \"" + gate.Module + "/internal/canon\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "planted.go"), []byte(code), 0o644))
	faults, _ := importsOfInternal(t, root)
	assert.Equal(t, []string{"adapter/planted/planted.go imports " + gate.Module + "/internal/canon"}, faults)
}

// Until a release, readers replace each module that they use. The README names those that an adapter needs
// beside the core.
func TestTheREADMENamesWhatAnAdapterNeeds(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	said := regexp.MustCompile(`(?s)There is no release yet\..*?:\n`).FindString(string(readme))
	modules, err := filepath.Glob("../../adapter/*/go.mod")
	require.NoError(t, err)
	needed := regexp.MustCompile(`(?m)^\s+` + gate.Module + `/(adapter/\w+) v\S+$`)
	providers := []string{"anthropic", "anthropicv2", "genai", "ollama", "openai"}
	for _, path := range modules {
		mod, err := os.ReadFile(path)
		require.NoError(t, err)
		name := filepath.Base(filepath.Dir(path))
		for _, other := range needed.FindAllStringSubmatch(string(mod), -1) {
			assert.Contains(t, said, "`"+other[1]+"`", name)
			if !slices.Contains(providers, name) {
				assert.Contains(t, said, "`"+name+"`")
			}
		}
	}
}

// importsOfInternal lists where other modules below root import internal packages of the core, also in tests.
// It counts the files that it read.
func importsOfInternal(t *testing.T, root string) (faults []string, files int) {
	modules := []string{"adapter", "examples"}
	for _, dir := range modules {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			files++
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(root, path)
			for _, i := range f.Imports {
				if at, _ := strconv.Unquote(i.Path.Value); strings.HasPrefix(at, gate.Module+"/internal") {
					faults = append(faults, fmt.Sprintf("%s imports %s", filepath.ToSlash(name), at))
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
	return faults, files
}
