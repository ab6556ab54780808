package random

import "math/rand/v2"

// dice draws from the seed of a case.
type dice struct{ *rand.Rand }

// newDice returns the dice of a seed. The generator and its constants are part of what a seed means.
func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0x72657461_6b65))} }

// one reports true in one of n draws.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

// between draws a number from low to high.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

func pick[T any](d dice, all ...T) T { return all[d.IntN(len(all))] }

// many draws up to n values.
func many[T any](d dice, n int, draw func() T) (all []T) {
	for range d.IntN(n + 1) {
		all = append(all, draw())
	}
	return all
}
