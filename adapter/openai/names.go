package openai

import (
	"encoding/hex"
	"hash/fnv"

	"github.com/retake-go/retake/tool"
)

// maxName bounds the name of a function, in bytes.
const maxName = 64

// safeName returns the name of a tool on the wire: letters, digits, "_" and "-", at most 64. A longer name
// keeps its beginning and ends in a hash of the whole.
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

// shortened maps the wire names of tools with long names to the registered ones.
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
