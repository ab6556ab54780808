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

// words are sorted by name.
var words = [...]word{
	{"arg", ofArgument}, {argumentKey, ofPair}, {"argument", ofArgument}, {argumentValue, ofPair}, {"call", ofCall},
	{"function", ofCall}, {"functioncall", ofCall}, {"functioncalls", ofCall}, {"functionresponse", ofResult},
	{"functionresult", ofResult}, {"functionresults", ofResult}, {"invoke", ofCall}, {"observation", ofResult},
	{"param", ofArgument}, {"parameter", ofArgument}, {"reasoning", ofThought}, {"scratchpad", ofThought},
	{"startfunctioncall", ofCall}, {"think", ofThought}, {"thinking", ofThought}, {"thought", ofThought},
	{"tool", ofCall}, {"toolcall", ofCall}, {"toolcalls", ofCall}, {"tooloutput", ofResult}, {"toolresponse", ofResult},
	{"toolresponses", ofResult}, {"toolresult", ofResult}, {"toolresults", ofResult}, {"tooluse", ofCall},
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
	at, end := 0, len(words)
	for at < end {
		if middle := (at + end) / 2; words[middle].name < string(plain[:n]) {
			at = middle + 1
		} else {
			end = middle
		}
	}
	if at < len(words) && words[at].name == string(plain[:n]) {
		return words[at]
	}
	return word{}
}
