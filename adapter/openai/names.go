package openai

import (
	"encoding/hex"
	"hash/fnv"

	"github.com/retake-go/retake/tool"
)

// maxName is how long a function's name may be.
const maxName = 64

// safeName is the name that a tool goes under: letters, digits, "_" and "-", at most 64. One that is too long
// keeps its beginning and ends in a hash of all of it.
func safeName(name string) string {
	safe := tool.ProviderName(name)
	if safe == "" {
		return "unnamed"
	}
	if len(safe) <= maxName {
		return safe
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	sum := hex.EncodeToString(h.Sum(nil))
	return safe[:maxName-1-len(sum)] + "_" + sum
}

// shortened are the registered names of tools whose names were too long, by the name they go under.
func shortened(tools []*tool.Tool) map[string]string {
	var names map[string]string
	for _, t := range tools {
		if len(t.Name()) > maxName {
			if names == nil {
				names = map[string]string{}
			}
			names[safeName(t.Name())] = t.Name()
		}
	}
	return names
}
