package extract

// use is what a tag is for.
type use uint8

const (
	// ofCall holds calls, ofArgument one argument, ofPair the name or the value of one.
	ofCall use = iota + 1
	ofArgument
	ofPair
	// ofResult holds what a tool is said to have answered, ofThought what the model thinks.
	ofResult
	ofThought
)

// word is the name of a tag, in lower case without "_" and "-".
type word struct {
	name string
	use  use
}

const (
	argumentKey   = "argkey"
	argumentValue = "argvalue"
	// longestWord is the length of a word up to which it is looked up.
	longestWord = 32
)

var words = wordsOf(map[use][]string{
	ofCall: {"toolcall", "toolcalls", "functioncall", "functioncalls", "startfunctioncall", "tooluse", "tool", "function", "invoke",
		"call"},
	ofArgument: {"parameter", "param", "argument", "arg"},
	ofPair:     {argumentKey, argumentValue},
	ofResult: {"toolresponse", "toolresponses", "toolresult", "toolresults", "tooloutput", "functionresponse", "functionresult",
		"functionresults", "observation"},
	ofThought: {"think", "thinking", "thought", "reasoning", "scratchpad"},
})

func wordsOf(uses map[use][]string) map[string]word {
	all := map[string]word{}
	for u := ofCall; u <= ofThought; u++ {
		for _, name := range uses[u] {
			all[name] = word{name, u}
		}
	}
	return all
}

// wordOf is the word that a tag is called by; the zero word where it is none of them.
func wordOf(name string) word {
	var plain [longestWord]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		if c == '_' || c == '-' {
			continue
		}
		if n == longestWord {
			return word{}
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		plain[n] = c
		n++
	}
	return words[string(plain[:n])]
}
