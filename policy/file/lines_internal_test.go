package file

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlacesCountLinesAndCharacters(t *testing.T) {
	in := lines{data: []byte("é: 1\n\n  ö")}
	for _, c := range []struct {
		offset int
		want   place
	}{{0, place{1, 1}}, {2, place{1, 2}}, {6, place{2, 1}}, {99, place{3, 4}}, {2, place{1, 2}}} {
		assert.Equal(t, c.want, in.of(c.offset), "offset %d, in any order", c.offset)
	}
}
