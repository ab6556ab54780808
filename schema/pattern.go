package schema

import (
	"errors"
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

// patterns compiles the regular expressions of one schema document, each once.
type patterns struct {
	made  map[string]compiledPattern
	steps int
}

type compiledPattern struct {
	pattern
	err error
}

var errManySteps = errors.New("too many steps")

// tooLarge reports whether the bound was reached. What was not compiled is of no use then.
func (p *patterns) tooLarge() bool { return p.steps > maxPatternSteps }

// compile has the form that the library calls for.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	of, known := p.made[text]
	if !known {
		of.pattern, of.err = p.fresh(text)
		p.made[text] = of
	}
	if of.err != nil {
		return nil, of.err
	}
	return of.pattern, nil
}

func (p *patterns) fresh(text string) (pattern, error) {
	if p.steps += writtenOut(text); p.tooLarge() {
		return pattern{}, errManySteps
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	size, classes := sizes(tree)
	if p.steps += size + classes; p.tooLarge() {
		return pattern{}, errManySteps
	}
	re, err := regexp.Compile(text)
	return pattern{re, size}, err
}

// What Go writes out while it reads a pattern: classes that have a name, and the cases of each character in a
// range.
var (
	namedClass = regexp.MustCompile(`\\[pP]`)
	foldsCases = regexp.MustCompile(`\(\?[imsU]*i`)
	longRange  = regexp.MustCompile(`-(\\[x0-7]|[^\x00-\x7f])`)
)

const stepsOfName, stepsOfFold = 256, 8192

// writtenOut is what reading a pattern takes beside its size, in steps.
func writtenOut(text string) int {
	steps := stepsOfName * len(namedClass.FindAllStringIndex(text, -1))
	if foldsCases.MatchString(text) {
		steps += stepsOfFold * len(longRange.FindAllStringIndex(text, -1))
	}
	return steps
}

// sizes are about the size of a pattern's program, and of the classes of characters in it. A class that is
// repeated is there once.
func sizes(re *syntax.Regexp) (program, classes int) {
	program = 1
	if re.Op == syntax.OpCharClass {
		classes = len(re.Rune)
	} else {
		program += len(re.Rune)
	}
	for _, sub := range re.Sub {
		p, c := sizes(sub)
		program, classes = program+p, classes+c
	}
	switch {
	case re.Op != syntax.OpRepeat:
	case re.Max < 0: // the last one in a loop
		program *= re.Min + 1
	default:
		program *= max(re.Max, 1)
	}
	return program, classes
}

// patternSteps is how many steps of a pattern are the work of one look.
const patternSteps = 16

// matches reports whether a text matches, as far as the budget goes.
func (p pattern) matches(text string, b *Budget) bool {
	return b.spend(p.size*len(text)/patternSteps+1) && p.MatchString(text)
}
