package extract

import "strings"

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
	"startfunctioncall": ofCall, "think": ofThought, "thinking": ofThought, "thought": ofThought,
	"tool":     ofCall,
	"toolcall": ofCall, "toolcalls": ofCall, "tooloutput": ofResult, "toolresponse": ofResult,
	"toolresponses": ofResult, "toolresult": ofResult, "toolresults": ofResult, "tooluse": ofCall,
}

// wordOf is the word of a tag's name; the zero word if it is not in words.
func wordOf(name string) word {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if words[plain] == 0 {
		return word{}
	}
	return word{plain, words[plain]}
}
