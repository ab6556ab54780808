package schema

import (
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is a regular expression and how much work it is: Go takes time in proportion to its size times that
// of the text.
type pattern struct {
	*regexp.Regexp
	size int
}

// newPattern has the form that the library calls for.
func newPattern(text string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	return pattern{re, len(prog.Inst)}, nil
}

// patternSteps is how many steps of a pattern are the work of one look.
const patternSteps = 16

// matches reports whether a text matches, as far as the budget goes.
func (p pattern) matches(text string, b *Budget) bool {
	return b.spend(p.size*len(text)/patternSteps+1) && p.MatchString(text)
}
