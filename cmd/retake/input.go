package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/corpus"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/tool"
)

// maxInput is the most bytes of an input that is read whole: 64 MiB.
const maxInput = 64 << 20

// readAll reads an input of at most maxInput bytes. Errors begin with its name.
func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("%s: it is larger than %d MiB, which is the limit", name, maxInput>>20)
	}
	return data, nil
}

// readPlaced reads the file that a flag, an argument or a key of a file names.
func readPlaced(place, path string) ([]byte, error) {
	f, err := openNamed(place, path, "give a file that can be read")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(path, f)
}

// openNamed opens a file. In its errors place names the flag or argument, and right says what to give.
func openNamed(place, path, right string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, misused("%s: %w: %s", place, err, right)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(misused("%s: %s is a directory: %s", place, path, right), f.Close())
	}
	return f, nil
}

// presetPrefix distinguishes the name of a preset from that of a file.
const presetPrefix = "preset:"

// policyFlag is a part of tasks that take a policy.
type policyFlag struct {
	Policy string `flag:"policy FILE" help:"the policy: a YAML or JSON FILE, or preset:NAME"`
}

// policies is the preset or file that -policy names.
type policies struct {
	// plane is that of a preset; empty for a file.
	plane fault.Plane
	set   policy.Set
	fleet limit.Fleet
}

// readPolicy reads the preset or file that a flag or a key of a file names, which place is. An empty name is
// the default policy.
func readPolicy(place, name string) (policies, error) {
	if preset, ok := strings.CutPrefix(name, presetPrefix); ok {
		return presetPolicy(place, preset)
	}
	if name == "" {
		return policies{set: policy.DefaultSet()}, nil
	}
	data, err := readPlaced(place, name)
	if err != nil {
		return policies{}, err
	}
	set, err := file.Read(name, data)
	if err != nil {
		return policies{}, err
	}
	fleet, err := file.ReadFleet(name, data)
	return policies{set: set, fleet: fleet}, err
}

// presetPolicy returns the policy of a preset: "correction" is for the correction plane, all others for
// transport.
func presetPolicy(place, preset string) (policies, error) {
	p, ok := policy.Preset(preset)
	if !ok {
		near := didYouMean(preset, policy.Presets())
		return policies{}, misused("%s: there is no preset %q%s\npresets: %s%s", place, preset, near,
			presetPrefix, strings.Join(policy.Presets(), ", "+presetPrefix))
	}
	of := policies{plane: fault.Transport, set: policy.DefaultSet()}
	if preset == "correction" {
		of.plane, of.set.Global = fault.Correction, p.Layer()
	} else {
		of.set.Transport = p.TransportLayer()
	}
	return of, nil
}

// toolForm describes a file of tools.
const toolForm = `{"name", "description", "parameters"}, or a list of such objects`

// readTools reads the file of -tool or -tools: one tool, or a list of tools. Unknown members are an error,
// for they belong to other formats.
func readTools(flag, path string) (*tool.Set, error) {
	data, err := readPlaced(flag, path)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	tools := make([]corpus.Tool, 1)
	if bytes.HasPrefix(data, []byte("[")) {
		err = canon.UnmarshalKnown(data, &tools)
	} else {
		err = canon.UnmarshalKnown(data, &tools[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; a file of tools is %s", path, err, toolForm)
	}
	set, err := corpus.Tools(tools)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}
