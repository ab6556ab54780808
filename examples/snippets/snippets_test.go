package snippets

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rewriting reports whether the outputs in the pages are rewritten. The flag is that of package scenario.
func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

var (
	// A block is "```lang name", its lines, "```".
	block = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")
	// A command is "$ " and its output.
	command = regexp.MustCompile(`(?m)^\$ `)
	// A replacement of a module by a folder.
	relative = regexp.MustCompile(`=> \.\.\S*`)
	// These differ from run to run: times and dates, the padding before them, line numbers of sources.
	varies = regexp.MustCompile(`(?m)\t(\d+\.\d+s|\(cached\))|\(\d+\.\d\ds\)|^ *\+[\d.]+[µm]?s|^ +|` +
		`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\.go:\d+`)
)

// TestPages follows each page as a reader would, in its own folder:
//
//   - a block with a file name ("```yaml policy.yaml") is written to that file, a go block without one to
//     main.go;
//   - every go block is a whole file, with its imports, that go vet accepts;
//   - in a console block every line that begins with "$ " is run, and must print the lines below it. "…"
//     matches any text within a line, and any lines if it is alone on a line. Times are not compared.
//
// Blocks in other languages are ignored; commands that a test cannot run are in sh blocks. With -args
// -rewrite the outputs in the pages are rewritten: check the difference.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("a build of every program, which the race detector does not see")
	}
	bin := t.TempDir()
	require.Empty(t, run(t, "../..", bin, "go -C cmd/retake build -o "+bin+"/retake ."))
	for _, page := range pages(t) {
		t.Run(titleOf(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			read := follow(t, begin(t, page), string(text), bin)
			if rewriting() {
				require.NoError(t, os.WriteFile(page, []byte(read), 0o644))
			}
		})
	}
}

// Readers do not see the fence of a block. So the name of its file stands in the text before it. A main.go is
// a program.
func TestAFilesNameStandsInTheTextBeforeItsBlock(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(titleOf(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			rest := string(text)
			for _, found := range block.FindAllStringSubmatch(rest, -1) {
				before, after, _ := strings.Cut(rest, found[0])
				assert.Contains(t, before, fileOf(found), "before the block that begins with %.60q", found[3])
				if fileOf(found) == "main.go" {
					assert.Regexp(t, `(?m)^package main$`, found[3])
				}
				rest = after
			}
		})
	}
}

// pages are the pages with programs.
func pages(t *testing.T) (all []string) {
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/guides/*.md", "adapter/*/README.md", "examples/README.md"} {
		found, err := filepath.Glob("../../" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		all = append(all, found...)
	}
	return all
}

func titleOf(page string) string {
	return strings.ReplaceAll(strings.TrimPrefix(page, "../../"), "/", "_")
}

// fileOf is the file that a block is written to; empty for none.
func fileOf(found []string) string {
	if language, name := found[1], found[2]; language != "go" || name != "" {
		return name
	}
	return "main.go"
}

// follow executes a page in a folder, and returns the page with the current outputs.
func follow(t *testing.T, dir, page, bin string) string {
	return block.ReplaceAllStringFunc(page, func(b string) string {
		found := block.FindStringSubmatch(b)
		language, name, text := found[1], fileOf(found), found[3]
		switch {
		case language == "console":
			return "```console\n" + commands(t, dir, text, bin) + "```"
		case name != "":
			file := filepath.Join(dir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			if language == "go" {
				require.True(t, strings.HasPrefix(text, "package "), "a go block is a whole file:\n%s", text)
				assert.Empty(t, run(t, filepath.Dir(file), bin, "go vet . && gofmt -l ."), "%s:\n%s", name, text)
			}
		}
		return b
	})
}

// commands runs the commands of a console block, and returns the block with their outputs.
func commands(t *testing.T, dir, text, bin string) string {
	var out strings.Builder
	for _, c := range command.Split(text, -1)[1:] {
		line, want, _ := strings.Cut(c, "\n")
		got := run(t, dir, bin, line)
		if regexp.MustCompile(pattern(want)).MatchString(varies.ReplaceAllString(got, "~")) {
			got = want
		} else if !rewriting() {
			assert.Equal(t, want, got, "$ %s", line)
		}
		fmt.Fprintf(&out, "$ %s\n%s", line, got)
	}
	return out.String()
}

// begin makes a module for the programs of a page. It requires the same modules as this one or, for an
// adapter's page, the adapter and its requirements.
func begin(t *testing.T, page string) string {
	from := "."
	if strings.Contains(page, "/adapter/") {
		from = filepath.Dir(page)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	require.NoError(t, err)
	name := regexp.MustCompile(`(?m)^module (.*)$`).FindSubmatch(mod)[1]
	text := relative.ReplaceAllStringFunc(string(mod), func(path string) string {
		path, err := filepath.Abs(filepath.Join(from, strings.TrimPrefix(path, "=> ")))
		require.NoError(t, err)
		return "=> " + path
	})
	if from != "." {
		path, err := filepath.Abs(from)
		require.NoError(t, err)
		text += fmt.Sprintf("\nrequire %s v0.1.0\nreplace %s => %s\n", name, name, path)
	}
	text = strings.Replace(text, "module "+string(name), "module example", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644))
	sum, err := os.ReadFile(filepath.Join(from, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644))
	return dir
}

// run runs a line in a shell that has the command retake and no provider's key, and returns the output.
func run(t *testing.T, dir, bin, line string) string {
	c := exec.CommandContext(t.Context(), "sh", "-c", line)
	c.Dir = dir
	for _, v := range os.Environ() {
		if !strings.Contains(v, "_API_KEY=") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "PATH="+bin+":"+os.Getenv("PATH"), "GOWORK=off", "GOFLAGS=-mod=mod", "NO_COLOR=1", "COLUMNS=120")
	out, _ := c.CombinedOutput() // a status other than 0 is for the page to tell
	return string(out)
}

// pattern matches an output exactly, except for "…" and what varies.
func pattern(want string) string {
	want = regexp.QuoteMeta(varies.ReplaceAllString(strings.TrimRight(want, "\n"), "~"))
	want = regexp.MustCompile(`(?m)^…$`).ReplaceAllString(want, `(?s:.*)`)
	return `^` + strings.ReplaceAll(want, "…", ".*") + `\n*$`
}
