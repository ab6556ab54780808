package canon

import (
	"cmp"
	"maps"
	"slices"
)

// Keys returns the keys of a map in order. Those of an empty map take no memory.
func Keys[M ~map[K]V, K cmp.Ordered, V any](m M) []K {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}
