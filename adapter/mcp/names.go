package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// cleanName replaces the characters that retake does not allow in a name by "_".
func cleanName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
			strings.ContainsRune("_./-", r):
			return r
		}
		return '_'
	}, name)
}

// nameOf returns the name of a server's tool in retake.
func (c Config) nameOf(remote string) string {
	if name, ok := c.Rename[remote]; ok {
		return name
	}
	return c.Prefix + cleanName(remote)
}

// choose returns the tools to offer, in the server's order. Duplicate names are an error, and so are names
// in the config that the list lacks.
func (c Config) choose(listed []*sdk.Tool) ([]*sdk.Tool, error) {
	var errs []error
	var names []string
	for n, t := range listed {
		switch {
		case t.Name == "":
			errs = append(errs, fmt.Errorf("tool %d of the list has no name", n+1))
		case slices.Contains(names, t.Name):
			errs = append(errs, fmt.Errorf("two tools have the name %q", t.Name))
		}
		names = append(names, t.Name)
	}
	missing := func(field, name string) {
		if !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("%s: there is no tool %q; use one of %q", field, name, names))
		}
	}
	for _, name := range c.Only {
		missing("Only", name)
	}
	for _, name := range c.TrustHintsOf {
		missing("TrustHintsOf", name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Rename)) {
		missing("Rename", name)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	chosen := slices.DeleteFunc(slices.Clone(listed), func(t *sdk.Tool) bool {
		return c.Only != nil && !slices.Contains(c.Only, t.Name)
	})
	return chosen, c.distinct(chosen)
}

// distinct returns an error for tools that would have the same name.
func (c Config) distinct(tools []*sdk.Tool) error {
	var errs []error
	taken := map[string]string{}
	for _, t := range tools {
		name := c.nameOf(t.Name)
		if other, ok := taken[name]; ok {
			errs = append(errs,
				fmt.Errorf("tools %q and %q would both get the name %q; change one with Rename", other,
					t.Name, name))
			continue
		}
		taken[name] = t.Name
	}
	return errors.Join(errs...)
}
