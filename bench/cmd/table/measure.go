package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// suite is a package of benchmarks. folder is the folder in which it is built and run.
type suite struct {
	folder string
	// benchtime replaces that of the flags if one operation takes long or is a whole process.
	benchtime string
	args      func(s settings) []string
}

var suites = []suite{
	{folder: "retry"},
	{folder: "check"},
	{folder: "peers/genkit"},
	{folder: "peers/fantasy"},
	{folder: "run"},
	{folder: "peers/openaiagents"},
	{folder: "core"},
	{folder: "start", benchtime: "10x"},
	{folder: "wait", benchtime: "1x", args: func(s settings) []string { return []string{"-sessions=" + strconv.Itoa(s.sessions)} }},
}

// measure builds all suites and runs them in rounds.
func measure(ctx context.Context, s settings) ([]byte, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	built := map[string]string{}
	for _, each := range chosen(s) {
		if built[each.folder], err = build(ctx, dir, each.folder); err != nil {
			return nil, err
		}
	}
	text := bytes.NewBufferString(heading(ctx, s))
	for round := range s.count {
		for _, each := range chosen(s) {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, s.count, each.folder)
			out, err := each.run(ctx, s, built[each.folder], ".")
			if err != nil {
				return nil, err
			}
			text.Write(out)
		}
	}
	return text.Bytes(), nil
}

func chosen(s settings) []suite {
	var some []suite
	for _, each := range suites {
		if s.only == "" || s.only == each.folder {
			some = append(some, each)
		}
	}
	return some
}

func build(ctx context.Context, dir, folder string) (string, error) {
	fmt.Fprintln(os.Stderr, "build", folder)
	binary := filepath.Join(dir, strings.ReplaceAll(folder, "/", "_")+".test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-p=1", "-o", binary, ".")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", folder, err, out)
	}
	return binary, nil
}

// run runs the benchmarks that match pattern once.
func (each suite) run(ctx context.Context, s settings, binary, pattern string, more ...string) ([]byte, error) {
	benchtime := s.benchtime
	if each.benchtime != "" {
		benchtime = each.benchtime
	}
	args := append([]string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchmem", "-test.benchtime=" + benchtime}, more...)
	if each.args != nil {
		args = append(args, each.args(s)...)
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = each.folder
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", each.folder, err, out, complaints.Bytes())
	}
	return out, nil
}

// top profiles retake's line in the row of runs. It prints the heaviest functions, and the time of each
// function of retake with all that it calls.
func top(ctx context.Context, s settings) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := build(ctx, dir, "run")
	if err != nil {
		return err
	}
	profile := filepath.Join(dir, "cpu.prof")
	s.benchtime = "5s"
	if _, err := (suite{folder: "run"}).run(ctx, s, binary, "^BenchmarkRun$/^ours$", "-test.cpuprofile="+profile); err != nil {
		return err
	}
	for _, how := range [][]string{{"-nodecount=20"}, {"-nodecount=40", "-cum", "-show=retake-go"}} {
		cmd := exec.CommandContext(ctx, "go", append(append([]string{"tool", "pprof", "-top"}, how...), binary, profile)...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}
