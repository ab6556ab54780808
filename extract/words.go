package extract

import "strings"

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
)

var words = map[string]use{
	"arg": ofArgument, argumentKey: ofPair, "argument": ofArgument, argumentValue: ofPair, "call": ofCall,
	"function": ofCall, "functioncall": ofCall, "functioncalls": ofCall, "functionresponse": ofResult,
	"functionresult": ofResult, "functionresults": ofResult, "invoke": ofCall, "observation": ofResult,
	"param": ofArgument, "parameter": ofArgument, "reasoning": ofThought, "scratchpad": ofThought,
	"startfunctioncall": ofCall, "think": ofThought, "thinking": ofThought, "thought": ofThought, "tool": ofCall,
	"toolcall": ofCall, "toolcalls": ofCall, "tooloutput": ofResult, "toolresponse": ofResult,
	"toolresponses": ofResult, "toolresult": ofResult, "toolresults": ofResult, "tooluse": ofCall,
}

// wordOf is the word that a tag is called by; the zero word where it is none of them.
func wordOf(name string) word {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if words[plain] == 0 {
		return word{}
	}
	return word{plain, words[plain]}
}
