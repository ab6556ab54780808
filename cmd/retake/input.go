package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

// maxInput bounds each input that is read whole: 64 MiB.
const maxInput = 64 << 20

// readAll reads an input that is bounded; name says which one in errors.
func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("%s: more than %d MiB, which is the most that is read", name, maxInput>>20)
	}
	return data, nil
}

// readNamed reads the file that a flag names.
func readNamed(flag, path string) ([]byte, error) {
	f, err := openNamed("-"+flag, path, "give a file that can be read")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(path, f)
}

// openNamed opens a file; place names the flag or argument that it stands in, right says what would be right.
func openNamed(place, path, right string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, misused("%s: %v: %s", place, err, right)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(misused("%s: %s is a directory: %s", place, path, right), f.Close())
	}
	return f, nil
}

// presetPrefix marks the name of a preset where a file could stand.
const presetPrefix = "preset:"

// policies is what -policy names: a preset, or a file.
type policies struct {
	// name is as it was given; empty for the defaults.
	name   string
	preset string
	set    policy.Set
}

// readPolicy reads what -policy names; an empty name is the default.
func readPolicy(name string) (policies, error) {
	if preset, ok := strings.CutPrefix(name, presetPrefix); ok {
		return presetPolicy(name, preset)
	}
	if name == "" {
		return policies{set: policy.DefaultSet()}, nil
	}
	data, err := readNamed("policy", name)
	if err != nil {
		return policies{}, err
	}
	set, err := file.Read(name, data)
	return policies{name: name, set: set}, err
}

// presetPolicy puts a preset where it belongs: validation-retry on the correction plane, the others on
// transport.
func presetPolicy(name, preset string) (policies, error) {
	p, ok := policy.Preset(preset)
	if !ok {
		return policies{}, misused("-policy: there is no preset %q: give one of %s%s", preset, presetPrefix,
			strings.Join(policy.Presets(), ", "+presetPrefix))
	}
	set := policy.DefaultSet()
	if isCorrection(preset) {
		set.Global = p.Layer()
	} else {
		set.Transport = p.TransportLayer()
	}
	return policies{name: name, preset: preset, set: set}, nil
}

func isCorrection(preset string) bool { return preset == "correction" }
