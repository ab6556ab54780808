// Release makes a release of every module of this repo: the core, all adapters and the command, under one
// version.
//
//	go run ./release -repo .. -version v0.1.0        # says what it would do
//	go run ./release -repo .. -version v0.1.0 -do    # does it
//
// It checks that the tree is clean and on main, that the version is new, and that the changelog says what
// changed. Then it runs the tests, sets the version in every go.mod, moves the changelogs' notes from
// Unreleased to the version, commits, and tags: v0.1.0, adapter/openai/v0.1.0 and so on. The command's go.mod
// has no replacements in that commit, because go install refuses them; the next commit brings them back. It
// pushes nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// checks are the make targets that a release must pass.
var checks = []string{"lint", "test-all", "test-release"}

func main() {
	version := flag.String("version", "", "the `version` to release, such as v0.1.0")
	repo := flag.String("repo", ".", "the `folder` of the repo")
	do := flag.Bool("do", false, "make the release; without it, say only what would be done")
	checked := flag.Bool("checked", false, "skip the make targets: they have passed on this commit")
	flag.Parse()
	if err := run(*repo, *version, *do, *checked); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(repo, version string, do, checked bool) error {
	p, err := newPlan(repo, version, time.Now())
	if err != nil {
		return err
	}
	if checked {
		p.checks = nil
	}
	fmt.Print(p)
	if !do {
		fmt.Println("\nNothing was done. With -do (make release VERSION=" + version + " DO=1) it is.")
		return nil
	}
	for _, target := range p.checks {
		cmd := exec.Command("make", "-C", repo, target)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("make %s: %w; nothing was changed", target, err)
		}
	}
	if err := p.carryOut(); err != nil {
		return err
	}
	fmt.Println("\nDone. To publish it: git push origin main --tags")
	return nil
}
