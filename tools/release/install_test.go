//go:build install

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// A user can install a release. In an empty module, with no workspace and no replace, the test gets and
// builds the core and each adapter, builds the programs of the README, and installs the command. It also
// builds the adapters of the last release with the next core.
//
// The releases are made from the last commit, in a clone, and served from a folder in the form of a module
// proxy.
func TestAUserCanInstallARelease(t *testing.T) {
	r := newReleases(t)
	t.Run("core", func(t *testing.T) {
		dir := r.user(t)
		r.goes(t, dir, "get", core+"@"+r.head)
		programs := programsOf(t, filepath.Join(r.clone, "README.md"))
		require.NotEmpty(t, programs)
		for n, program := range programs {
			write(t, dir, map[string]string{fmt.Sprintf("program%d/main.go", n): program})
		}
		r.goes(t, dir, "mod", "tidy")
		r.goes(t, dir, "vet", "./...")
	})
	t.Run("command", func(t *testing.T) {
		dir := r.user(t)
		r.goes(t, dir, "install", core+"/cmd/retake@"+r.head)
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", "retake"), "version").Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "retake "+r.head+" (")
	})
	for _, adapter := range r.adapters {
		t.Run(adapter, func(t *testing.T) {
			r.builds(t, adapter, r.head, r.head)
			r.builds(t, adapter, r.last, r.next)
		})
	}
}

// releases are the versions that users can get.
type releases struct {
	clone, proxy, cache string
	// last is the latest release, and next the one after it. The test makes next from the last commit, and
	// last too if nothing was released yet. head is the first of the two that the test made.
	last, next, head string
	adapters         []string
}

// newReleases makes a release of the last commit in a clone of the repo. If there was no release before, it
// makes two.
func newReleases(t *testing.T) *releases {
	r := &releases{clone: filepath.Join(t.TempDir(), "clone"), proxy: t.TempDir(), cache: t.TempDir()}
	root := git(t, ".", "rev-parse", "--show-toplevel")
	git(t, ".", "clone", "--quiet", root, r.clone)
	git(t, r.clone, "checkout", "--quiet", "-B", "main")
	git(t, r.clone, "config", "user.name", "test")
	git(t, r.clone, "config", "user.email", "test@example.com")
	if r.last = latest(git(t, r.clone, "tag")); r.last == "" {
		r.last = "v0.1.0"
		r.head = r.last
		r.release(t, r.last)
	}
	r.next = semver.MajorMinor(r.last) + fmt.Sprintf(".%d", patch(t, r.last)+1)
	if r.head == "" {
		r.head = r.next
	}
	r.release(t, r.next)

	dirs, err := modules(r.clone)
	require.NoError(t, err)
	for _, dir := range slices.DeleteFunc(dirs, func(dir string) bool { return !released(dir) }) {
		r.serve(t, dir, r.last)
		r.serve(t, dir, r.next)
		if strings.HasPrefix(dir, "adapter/") {
			r.adapters = append(r.adapters, dir)
		}
	}
	return r
}

// latest is the latest version among tags; empty if there is none.
func latest(tags string) (last string) {
	for _, tag := range strings.Fields(tags) {
		if semver.IsValid(tag) && semver.Compare(tag, last) > 0 {
			last = tag
		}
	}
	return last
}

func patch(t *testing.T, version string) (n int) {
	_, err := fmt.Sscan(version[strings.LastIndexByte(version, '.')+1:], &n)
	require.NoError(t, err)
	return n
}

// release makes a release of what the clone has, with news in its changelog and a README that knows of
// releases.
func (r *releases) release(t *testing.T, version string) {
	readme := filepath.Join(r.clone, "README.md")
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	if bytes.Contains(text, []byte(noRelease)) {
		require.NoError(t, os.WriteFile(readme, bytes.ReplaceAll(text, []byte(noRelease), []byte("There is one")), 0o644))
		commit(t, r.clone)
	}
	changelog := filepath.Join(r.clone, "CHANGELOG.md")
	doc, err := os.ReadFile(changelog)
	require.NoError(t, err)
	if !bytes.Contains(doc, []byte("\n## ["+version[1:]+"]")) {
		doc = bytes.Replace(doc, []byte(unreleased), []byte(unreleased+"\n- News of "+version+".\n"), 1)
		require.NoError(t, os.WriteFile(changelog, doc, 0o644))
		commit(t, r.clone)
	}
	p, err := newPlan(r.clone, version, time.Now())
	require.NoError(t, err)
	require.NoError(t, p.carryOut())
}

// serve adds a tagged module to the folder of the module proxy.
func (r *releases) serve(t *testing.T, dir, version string) {
	path := core
	if dir != "." {
		path += "/" + dir
	}
	subdir := strings.TrimPrefix(dir, ".")
	tag := tagOf(dir, version)
	var archive bytes.Buffer
	id := module.Version{Path: path, Version: version}
	require.NoError(t, zip.CreateFromVCS(&archive, id, r.clone, tag, subdir))
	mod := git(t, r.clone, "show", tag+":"+strings.TrimPrefix(subdir+"/go.mod", "/")) + "\n"
	list := filepath.Join(path, "@v", "list")
	before, _ := os.ReadFile(filepath.Join(r.proxy, list))
	write(t, r.proxy, map[string]string{
		list: string(before) + version + "\n",
		filepath.Join(path, "@v", version+".info"): fmt.Sprintf(`{"Version":%q}`, version),
		filepath.Join(path, "@v", version+".mod"):  mod,
		filepath.Join(path, "@v", version+".zip"):  archive.String(),
	})
}

// user is the empty module of a user.
func (r *releases) user(t *testing.T) (dir string) {
	dir = t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module example.com/user\n\ngo 1.26.0\n"})
	return dir
}

// builds gets an adapter with a core, and builds all of its packages.
func (r *releases) builds(t *testing.T, adapter, version, ofCore string) {
	dir := r.user(t)
	path := core + "/" + adapter
	r.goes(t, dir, "get", path+"/...@"+version, core+"@"+ofCore) // its commands, too
	r.goes(t, dir, "build", path+"/...")
	got := r.goes(t, dir, "list", "-m", path, core)
	require.Equal(t, path+" "+version+"\n"+core+" "+ofCore+"\n", got)
}

// goes runs the go command without a checkout of this repo and returns its output. Other modules come from
// the module cache of this machine or, if they are not there, from its GOPROXY.
func (r *releases) goes(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	here := strings.Fields(env(t, "GOMODCACHE") + " " + env(t, "GOPROXY"))
	cmd.Env = append(os.Environ(),
		"GOPROXY=file://"+r.proxy+",file://"+filepath.Join(here[0], "cache", "download")+","+here[1],
		"GOMODCACHE="+r.cache, "GOBIN="+filepath.Join(dir, "bin"),
		"GOWORK=off", "GOSUMDB=off", "GOTOOLCHAIN=local",
		"GOFLAGS=-mod=mod -modcacherw -trimpath") // -trimpath: the build cache serves the next run too
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), complaint.String())
	return string(out)
}

func env(t *testing.T, name string) string {
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

var block = regexp.MustCompile("(?s)```go(?: main\\.go)?\n(.*?)```")

// programsOf returns the complete programs on a page.
func programsOf(t *testing.T, page string) (programs []string) {
	doc, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, found := range block.FindAllStringSubmatch(string(doc), -1) {
		if strings.Contains(found[1], "package main") {
			programs = append(programs, found[1])
		}
	}
	return programs
}
