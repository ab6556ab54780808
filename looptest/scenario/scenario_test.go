package scenario_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/looptest/scenario"
)

const (
	stories = "../../testdata/scenarios"
	// loops are loops of valid calls that people reported, and honest is honest work that looks like one.
	loops  = "../../testdata/loops"
	honest = "../../testdata/honest"
)

// With options, the long runs of loops and honest work take most of a minute: -short leaves them to the plain
// test.
func runAll(t *testing.T, opts ...scenario.Option) {
	dirs := []string{stories, loops, honest}
	if testing.Short() && len(opts) > 0 {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { scenario.Run(t, dir, opts...) })
	}
}

func TestScenarios(t *testing.T) { runAll(t) }

// A run that resumes from its journal after every event goes on as if nothing had happened.
func TestScenariosSurviveACrashAfterEveryEvent(t *testing.T) { runAll(t, scenario.CrashEverywhere()) }

// Reported loops of valid calls end in time, and honest polling, paging and retrying never does.
func TestLoopsEndAndHonestWorkDoesNot(t *testing.T) {
	told := regexp.MustCompile(`Told by [\w.-]+/[\w.-]+#\d+\.`)
	read := func(dir string) (all []string) {
		files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(files), 20)
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Regexp(t, told, string(text), path)
			all = append(all, string(text))
		}
		return all
	}
	for _, text := range read(loops) {
		ended := strings.Contains(text, "stop: no_progress: ") || strings.Contains(text, "ask the planner: no_progress: ")
		assert.True(t, ended || strings.Contains(text, "=> result \"done\"\n----\n1 calls") || strings.Contains(text, "9 calls, then calling"), text)
	}
	for _, text := range read(honest) {
		assert.NotRegexp(t, `(?m)^\d+: (stop|give up): `, text)
		assert.Regexp(t, `\d+ calls, then calling`, text)
	}
}
