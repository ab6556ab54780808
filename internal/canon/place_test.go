package canon_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/canon"
)

func TestAValueIsFoundByItsPlace(t *testing.T) {
	tree := map[string]any{"a/b": []any{"x", map[string]any{"": nil}}}
	for pointer, want := range map[string]any{"": tree, "/a~1b/0": "x", "/a~1b/1/": nil} {
		value, ok := canon.At(tree, canon.Path(pointer))
		assert.True(t, ok, pointer)
		assert.Equal(t, want, value, pointer)
	}
	for _, pointer := range []string{"/a", "/a~1b/2", "/a~1b/-1", "/a~1b/x", "/a~1b/0/0"} {
		_, ok := canon.At(tree, canon.Path(pointer))
		assert.False(t, ok, pointer)
	}
}
