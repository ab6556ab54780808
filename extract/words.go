package extract

import (
	"bytes"
	"strings"
)

// use is what a tag is for.
type use uint8

const (
	// ofCall is around calls, ofArgument around one argument, ofPair around the name or the value of one.
	ofCall use = iota + 1
	ofArgument
	ofPair
	// ofResult is around the answer of a tool, ofThought around a thought of the model.
	ofResult
	ofThought
)

// vendor precedes the names of tags without a mark of its own: <longcat_tool_call>.
var vendor = []byte("longcat")

// word is the name of a tag, in lower case without "_" and "-", and without the vendor.
type word struct {
	name string
	use  use
}

const (
	argumentKey   = "argkey"
	argumentValue = "argvalue"
)

var words = byWord([]row[use]{
	{"call function functioncall functioncalls invoke startfunctioncall tool toolcall toolcalls tooluse",
		ofCall},
	{"arg argument param parameter", ofArgument},
	{argumentKey + " " + argumentValue, ofPair},
	{"functionresponse functionresult functionresults observation tooloutput toolresponse toolresponses " +
		"toolresult toolresults", ofResult},
	{"reasoning scratchpad think thinking thought", ofThought},
})

// row is what some words mean.
type row[V any] struct {
	words string
	means V
}

func byWord[V any](rows []row[V]) map[string]V {
	all := map[string]V{}
	for _, r := range rows {
		for _, word := range strings.Fields(r.words) {
			all[word] = r.means
		}
	}
	return all
}

// maxWord is the length of the longest word, at most.
const maxWord = 20

// wordOf returns the word of a tag's name; the zero word if it is not in words. It allocates nothing for
// other tags, of which a text may be made.
func wordOf(name string) word {
	var plain [maxWord]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		if c == '_' || c == '-' {
			continue
		}
		if n == maxWord {
			return word{}
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		plain[n] = c
		n++
	}
	known := bytes.TrimPrefix(plain[:n], vendor)
	if of := words[string(known)]; of != 0 {
		return word{string(known), of}
	}
	return word{}
}
