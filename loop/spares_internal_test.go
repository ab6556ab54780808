package loop

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASpareIsOneTakersAlone(t *testing.T) {
	var s spares
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				one, other := s.take(), s.take()
				assert.NotSame(t, one, other)
				one.tool, other.tool = one.tool+"x", other.tool+"x" // the race detector sees who else has them
				assert.Equal(t, "xx", one.tool+other.tool)
				one.tool, other.tool = "", ""
				s.give(one)
				s.give(other)
			}
		})
	}
	all.Wait()
}

func TestSparesAreKeptUpToABound(t *testing.T) {
	var s spares
	given := map[*trying]bool{}
	for range 100 {
		spare := new(trying)
		given[spare] = true
		s.give(spare)
	}
	kept := 0
	for range 100 {
		if given[s.take()] {
			kept++
		}
	}
	assert.Equal(t, len(s.places), kept)
}
