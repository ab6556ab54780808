package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// core is the path of the core module; the paths of all others begin with it.
const core = "github.com/retake-go/retake"

// plan is what a release does.
type plan struct {
	repo, version string
	// tags are those of the modules, the core's first.
	tags []string
	// files are those that are written, by their paths in the repo.
	files map[string][]byte
	// after are files that are written in a commit after the tags: see [plan.bump].
	after map[string][]byte
	// checks are the make targets that must pass first.
	checks []string
}

// newPlan reads the repo and says what a release of it on that day does. The error lists everything that
// stands in its way.
func newPlan(repo, version string, day time.Time) (*plan, error) {
	p := &plan{repo: repo, version: version, files: map[string][]byte{}, after: map[string][]byte{}, checks: checks}
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	mods, err := modules(repo)
	if err != nil {
		return nil, err
	}
	for _, dir := range mods {
		if released(dir) {
			p.tags = append(p.tags, tagOf(dir, version))
		}
	}
	faults := append(p.checkTree(), p.checkTags()...)
	faults = append(faults, p.checkReadme())
	for _, dir := range mods {
		faults = append(faults, p.bump(dir))
		if released(dir) {
			faults = append(faults, p.note(filepath.Join(dir, "CHANGELOG.md"), dir == ".", day))
		}
	}
	return p, errors.Join(faults...)
}

func checkVersion(version string) error {
	switch {
	case !semver.IsValid(version) || semver.Canonical(version) != version:
		return fmt.Errorf("version %q: want a semantic version of three numbers, such as v0.1.0", version)
	case semver.Major(version) != "v0" && semver.Major(version) != "v1":
		return fmt.Errorf("version %s: want v0 or v1, because the module paths have no /v2", version)
	}
	return nil
}

// modules lists the folders with a go.mod, sorted.
func modules(repo string) (dirs []string, err error) {
	err = filepath.WalkDir(repo, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case d.Name() == "go.mod":
			dir, err := filepath.Rel(repo, filepath.Dir(path))
			dirs = append(dirs, filepath.ToSlash(dir))
			return err
		}
		return nil
	})
	slices.Sort(dirs)
	return dirs, err
}

// released reports whether others import or install a module: examples, benchmarks and tools are read only.
func released(dir string) bool {
	return dir == "." || strings.HasPrefix(dir, "adapter/") || installed(dir)
}

// installed reports whether a module is a program that others install.
func installed(dir string) bool { return strings.HasPrefix(dir, "cmd/") }

func tagOf(dir, version string) string {
	if dir == "." {
		return version
	}
	return dir + "/" + version
}

// checkTree finds what is not committed, or not on main.
func (p *plan) checkTree() (faults []error) {
	if dirty, err := p.git("status", "--porcelain"); err != nil {
		return []error{err}
	} else if dirty != "" {
		faults = append(faults, fmt.Errorf("the tree is not clean; commit or remove:\n%s", dirty))
	}
	if branch, err := p.git("branch", "--show-current"); err != nil || branch != "main" {
		faults = append(faults, fmt.Errorf("the branch is %q, want main", branch))
	}
	return faults
}

// noRelease is what the README says before the first release.
const noRelease = "There is no release yet"

// checkReadme finds what the README says of the time before a release.
func (p *plan) checkReadme() error {
	doc, err := os.ReadFile(filepath.Join(p.repo, "README.md"))
	if err == nil && bytes.Contains(doc, []byte(noRelease)) {
		return fmt.Errorf("README.md says %q: take out that paragraph and the commands below it", noRelease)
	}
	return err
}

// checkTags finds tags that are there already, and releases of the core that are not older.
func (p *plan) checkTags() (faults []error) {
	all, err := p.git("tag")
	if err != nil {
		return []error{err}
	}
	for _, tag := range strings.Fields(all) {
		switch {
		case slices.Contains(p.tags, tag):
			faults = append(faults, fmt.Errorf("tag %s exists already", tag))
		case semver.IsValid(tag) && semver.Compare(tag, p.version) > 0:
			faults = append(faults, fmt.Errorf("%s is already released and later than %s", tag, p.version))
		}
	}
	return faults
}

// bump sets the version of the repo's own modules in the go.mod of a folder. That of a program loses its
// replacements: go install refuses them, while they do not matter in a module that is imported. The commit
// after the release brings them back.
func (p *plan) bump(dir string) error {
	name := filepath.Join(dir, "go.mod")
	before, err := os.ReadFile(filepath.Join(p.repo, name))
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, before, nil)
	if err != nil {
		return err
	}
	for _, r := range f.Require {
		if r.Mod.Path == core || strings.HasPrefix(r.Mod.Path, core+"/") {
			if err := f.AddRequire(r.Mod.Path, p.version); err != nil {
				return err
			}
		}
	}
	bumped, err := f.Format()
	if err != nil {
		return err
	}
	clean := bumped
	if installed(dir) {
		if clean, err = withoutReplace(f); err != nil {
			return err
		}
	}
	if !bytes.Equal(clean, before) {
		p.files[name] = clean
	}
	if !bytes.Equal(clean, bumped) {
		p.after[name] = bumped
	}
	return nil
}

// withoutReplace returns a go.mod without its replacements.
func withoutReplace(f *modfile.File) ([]byte, error) {
	for _, r := range slices.Clone(f.Replace) {
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}

const unreleased = "## [Unreleased]\n"

// note moves what a changelog has under Unreleased under the version. Where a changelog has to say something,
// the error says that it does not.
func (p *plan) note(name string, must bool, day time.Time) error {
	doc, err := os.ReadFile(filepath.Join(p.repo, name))
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	} else if err != nil {
		return err
	}
	number := strings.TrimPrefix(p.version, "v")
	head, rest, found := strings.Cut(string(doc), unreleased)
	news, _, _ := strings.Cut(rest, "\n## ")
	hasNews := found && strings.TrimSpace(news) != ""
	switch written := strings.Contains(string(doc), "\n## ["+number+"]"); {
	case written && hasNews:
		return fmt.Errorf("%s has a heading [%s] and also notes under Unreleased: merge them", name, number)
	case !written && !hasNews && must:
		return fmt.Errorf("%s has no notes on %s: write them under %q", name, number, strings.TrimSpace(unreleased))
	case hasNews:
		heading := fmt.Sprintf("%s\n## [%s] - %s\n", unreleased, number, day.Format(time.DateOnly))
		p.files[name] = []byte(head + heading + rest)
	}
	return nil
}

// String says what the plan does, for people.
func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Release %s:\n", p.version)
	for _, target := range p.checks {
		fmt.Fprintf(&b, "  run     make %s\n", target)
	}
	writes := func(files map[string][]byte, message string) {
		for _, name := range names(files) {
			fmt.Fprintf(&b, "  write   %s\n", name)
		}
		if len(files) > 0 {
			fmt.Fprintf(&b, "  commit  %s\n", message)
		}
	}
	writes(p.files, p.message())
	for _, tag := range p.tags {
		fmt.Fprintf(&b, "  tag     %s\n", tag)
	}
	writes(p.after, p.messageAfter())
	return b.String()
}

func (p *plan) message() string { return "Release " + p.version }

func (p *plan) messageAfter() string {
	return "After " + p.version + ": build the programs with the modules beside them again"
}

// names are those of files, sorted.
func names(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// carryOut writes the files, commits and tags, and then writes and commits those for after the release.
func (p *plan) carryOut() error {
	if err := p.commit(p.files, p.message()); err != nil {
		return err
	}
	for _, tag := range p.tags {
		if _, err := p.git("tag", "-a", "-m", p.message(), tag); err != nil {
			return err
		}
	}
	return p.commit(p.after, p.messageAfter())
}

// commit writes files and commits them; without files it does nothing.
func (p *plan) commit(files map[string][]byte, message string) error {
	if len(files) == 0 {
		return nil
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.repo, name), text, 0o644); err != nil {
			return err
		}
	}
	_, err := p.git(append([]string{"commit", "--quiet", "-m", message, "--"}, names(files)...)...)
	return err
}

// git runs git in the repo and returns what it prints.
func (p *plan) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", p.repo}, args...)...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimRight(string(out), "\n"), nil
}
