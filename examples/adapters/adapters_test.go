package main

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// This test is part of the program, so it is built and linked with every adapter.
func TestEveryAdapterIsInTheProgram(t *testing.T) {
	modules, err := filepath.Glob("../../adapter/*/go.mod")
	require.NoError(t, err)
	var all []string
	for _, path := range modules {
		if name := filepath.Base(filepath.Dir(path)); name != "kit" { // what they share
			all = append(all, name)
		}
	}
	require.NotEmpty(t, all)
	assert.Equal(t, all, slices.Sorted(maps.Keys(parts)), "add the adapter to main.go and to the replaces of go.mod")
}
