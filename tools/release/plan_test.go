package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var day = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

// repo is a small repo with a core, two adapters, a program and examples.
var repo = map[string]string{
	"go.mod":                      "module " + core + "\n\ngo 1.26.0\n",
	"CHANGELOG.md":                "# Changelog\n\n## [Unreleased]\n\n- All of it.\n",
	"README.md":                   "# retake\n",
	"adapter/openai/go.mod":       "module " + core + "/adapter/openai\n\nreplace " + core + " => ../..\n\nrequire " + core + " v0.1.0\n",
	"adapter/openai/CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-02\n\n- All of it.\n",
	"adapter/kit/go.mod":          "module " + core + "/adapter/kit\n\nrequire " + core + " v0.1.0\n",
	"cmd/retake/go.mod":           "module " + core + "/cmd/retake\n\nreplace " + core + " => ../..\n\nrequire " + core + " v0.1.0\n",
	"examples/go.mod": "module " + core + "/examples\n\nrequire (\n\t" + core + " v0.1.0\n\t" + core +
		"/adapter/openai v0.1.0 // indirect\n\texample.com/other v0.1.0\n)\n",
	"examples/testdata/go.mod": "module planted\n",
}

// newRepo makes a git repo of the files, on main.
func newRepo(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "config", "user.name", "test")
	git(t, dir, "config", "user.email", "test@example.com")
	commit(t, dir)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "--quiet", "-m", "files")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

func TestAReleaseIsPlannedAndThenMade(t *testing.T) {
	dir := newRepo(t, repo)
	p, err := newPlan(dir, "v0.2.0", day)
	require.NoError(t, err)
	assert.Equal(t, `Release v0.2.0:
  run     make lint
  run     make test-all
  run     make test-release
  write   CHANGELOG.md
  write   adapter/kit/go.mod
  write   adapter/openai/go.mod
  write   cmd/retake/go.mod
  write   examples/go.mod
  commit  Release v0.2.0
  tag     v0.2.0
  tag     adapter/kit/v0.2.0
  tag     adapter/openai/v0.2.0
  tag     cmd/retake/v0.2.0
  write   cmd/retake/go.mod
  commit  After v0.2.0: build the programs with the modules beside them again
`, p.String())
	assert.Empty(t, git(t, dir, "status", "--porcelain"), "a plan changes nothing")
	assert.Empty(t, git(t, dir, "tag"))

	require.NoError(t, p.carryOut())
	assert.Empty(t, git(t, dir, "status", "--porcelain"))
	assert.Equal(t, "adapter/kit/v0.2.0\nadapter/openai/v0.2.0\ncmd/retake/v0.2.0\nv0.2.0", git(t, dir, "tag"))
	assert.Equal(t, "Release v0.2.0", git(t, dir, "log", "-1", "--format=%s", "adapter/openai/v0.2.0"))
	examples := git(t, dir, "show", "v0.2.0:examples/go.mod")
	assert.Contains(t, examples, core+" v0.2.0\n")
	assert.Contains(t, examples, core+"/adapter/openai v0.2.0 // indirect\n")
	assert.Contains(t, examples, "example.com/other v0.1.0\n")
	command := git(t, dir, "show", "v0.2.0:cmd/retake/go.mod")
	assert.Contains(t, command, core+" v0.2.0")
	assert.NotContains(t, command, "replace", "go install refuses replacements")
	command = git(t, dir, "show", "main:cmd/retake/go.mod")
	assert.Contains(t, command, core+" v0.2.0")
	assert.Contains(t, command, "replace "+core+" => ../..")
	assert.Equal(t, "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n- All of it.", git(t, dir, "show", "v0.2.0:CHANGELOG.md"))
}

// The first release changes no go.mod but those of programs, because all require its version already.
func TestTheFirstReleaseOfATreeThatIsReadyOnlyTagsAndFreesThePrograms(t *testing.T) {
	dir := newRepo(t, repo)
	write(t, dir, map[string]string{"CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-02\n\n- All of it.\n"})
	commit(t, dir)
	before := git(t, dir, "rev-parse", "HEAD^{tree}")
	p, err := newPlan(dir, "v0.1.0", day)
	require.NoError(t, err)
	require.NoError(t, p.carryOut())
	assert.Equal(t, "cmd/retake/go.mod", git(t, dir, "diff", "--name-only", before, "v0.1.0"))
	assert.Equal(t, before, git(t, dir, "rev-parse", "main^{tree}"))
}

func TestWhatStandsInTheWayOfAReleaseIsNamed(t *testing.T) {
	for _, c := range []struct {
		name, version string
		files         map[string]string
		git           []string
		want          string
	}{
		{name: "no version", want: `version "": want a semantic version of three numbers, such as v0.1.0`},
		{name: "no v", version: "0.2.0", want: "want a semantic version"},
		{name: "two numbers", version: "v0.2", want: "want a semantic version"},
		{name: "v2", version: "v2.0.0", want: "want v0 or v1, because the module paths have no /v2"},
		{name: "another branch", version: "v0.2.0", git: []string{"checkout", "--quiet", "-b", "fix"}, want: `the branch is "fix", want main`},
		{name: "a file that is not committed", version: "v0.2.0", files: map[string]string{"new.go": ""}, want: "the tree is not clean; commit or remove:\n?? new.go"},
		{name: "released before", version: "v0.2.0", git: []string{"tag", "v0.2.0"}, want: "tag v0.2.0 exists already"},
		{name: "an adapter released before", version: "v0.2.0", git: []string{"tag", "adapter/openai/v0.2.0"}, want: "tag adapter/openai/v0.2.0 exists already"},
		{name: "older than a release", version: "v0.2.0", git: []string{"tag", "v0.10.0"}, want: "v0.10.0 is already released and later than v0.2.0"},
		{name: "nothing to tell", version: "v0.2.0", files: map[string]string{"CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n"}, want: `CHANGELOG.md has no notes on 0.2.0: write them under "## [Unreleased]"`},
		{
			name: "told twice", version: "v0.1.0", files: map[string]string{"CHANGELOG.md": "## [Unreleased]\n\n- More.\n\n## [0.1.0]\n\n- All of it.\n"},
			want: "CHANGELOG.md has a heading [0.1.0] and also notes under Unreleased: merge them",
		},
		{
			name: "the README of the time before", version: "v0.2.0", files: map[string]string{"README.md": "There is no release yet. Until then, take a clone.\n"},
			want: `README.md says "There is no release yet": take out that paragraph and the commands below it`,
		},
		{name: "a broken go.mod", version: "v0.2.0", files: map[string]string{"adapter/openai/go.mod": "modul x\n"}, want: "adapter/openai/go.mod:1: unknown directive: modul"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newRepo(t, repo)
			write(t, dir, c.files)
			if c.git != nil {
				git(t, dir, c.git...)
			}
			_, err := newPlan(dir, c.version, day)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

// Other files list the modules of this repo, too.
func TestDependabotKnowsEveryModule(t *testing.T) {
	dirs, err := modules("../..")
	require.NoError(t, err)
	doc, err := os.ReadFile("../../.github/dependabot.yml")
	require.NoError(t, err)
	for _, dir := range dirs {
		assert.Contains(t, string(doc), "\n      - /"+strings.TrimPrefix(dir, ".")+"\n")
	}
	assert.Greater(t, len(dirs), 10)
}
