package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is a regular expression and how much work it is: Go takes time in proportion to its size times that
// of the text.
type pattern struct {
	text  string
	rest  *regexp.Regexp // what follows the lookaheads
	first []lookahead
	size  int
}

// lookahead is one at the beginning of a pattern, which Go does not know, as a regular expression of its own.
type lookahead struct {
	*regexp.Regexp
	isNegative bool
}

func (p *pattern) String() string { return p.text }

// MatchString reports whether a text matches.
func (p *pattern) MatchString(text string) bool {
	for _, a := range p.first {
		if a.MatchString(text) == a.isNegative {
			return false
		}
	}
	return p.rest.MatchString(text)
}

// patterns compiles the regular expressions of one schema document, each once.
type patterns struct {
	made  map[string]*pattern
	steps int
}

var errManySteps = errors.New("too many steps")

// tooLarge reports whether the bound was reached. What was not compiled is of no use then.
func (p *patterns) tooLarge() bool { return p.steps > maxPatternSteps }

// compile has the form that the library calls for.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if known := p.made[text]; known != nil {
		return known, nil
	}
	made, err := p.fresh(text)
	if err != nil {
		return nil, err
	}
	p.made[text] = made
	return made, nil
}

func (p *patterns) fresh(text string) (made *pattern, err error) {
	if p.steps += writtenOut(text); p.tooLarge() {
		return nil, errManySteps
	}
	made, text = &pattern{text: text}, inGo(text)
	for {
		ahead, rest, is := cutLookahead(text)
		if !is {
			break
		}
		next := lookahead{isNegative: ahead[0] == '!'}
		if next.Regexp, err = p.part(made, "^(?:"+ahead[1:]+")"); err != nil {
			return nil, err
		}
		made.first, text = append(made.first, next), "^"+rest
	}
	made.rest, err = p.part(made, text)
	return made, err
}

// part compiles a part of a pattern.
func (p *patterns) part(of *pattern, text string) (*regexp.Regexp, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size, classes := sizes(tree)
	of.size += size
	if p.steps += size + classes; p.tooLarge() {
		return nil, errManySteps
	}
	return regexp.Compile(text)
}

// escapes are the characters with a backslash before them, and those that JavaScript names by their number.
var escapes = regexp.MustCompile(`(?s)\\(?:u([0-9a-fA-F]{4})|.)`)

// inGo writes \u0041 as Go has it. Halves of a pair stay, and are refused.
func inGo(pattern string) string {
	return escapes.ReplaceAllStringFunc(pattern, func(escape string) string {
		digits, is := strings.CutPrefix(escape, `\u`)
		if half := strings.ToLower(digits); !is || len(digits) != 4 || half >= "d800" && half <= "dfff" {
			return escape
		}
		return `\x{` + digits + "}"
	})
}

// cutLookahead takes the lookahead, from its "=" or "!", out of a pattern that begins with it. It takes none
// out of a pattern with alternatives, because the lookahead belongs to the first of them only.
func cutLookahead(pattern string) (ahead, rest string, is bool) {
	rest, is = strings.CutPrefix(pattern, "^(?")
	end := outermost(rest, ')')
	if !is || end < 1 || rest[0] != '=' && rest[0] != '!' {
		return "", "", false
	}
	ahead, rest = rest[:end], rest[end+1:]
	isRepeated := rest != "" && strings.Contains("*+?{", rest[:1])
	return ahead, rest, !isRepeated && outermost(rest, '|') < 0
}

// outermost finds a character outside of groups and classes; -1 for none.
func outermost(pattern string, char byte) int {
	depth, isClass := 0, false
	for n := 0; n < len(pattern); n++ {
		switch c := pattern[n]; {
		case c == '\\':
			n++
		case isClass:
			isClass = c != ']'
		case c == '[':
			isClass = true
			if rest := strings.TrimPrefix(pattern[n+1:], "^"); strings.HasPrefix(rest, "]") {
				n = len(pattern) - len(rest) // a "]" that comes first is a character of the class
			}
		case depth == 0 && c == char:
			return n
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	return -1
}

// What Go writes out while it reads a pattern: classes that have a name, and the cases of each character in a
// range.
var (
	namedClass = regexp.MustCompile(`\\[pP]`)
	foldsCases = regexp.MustCompile(`\(\?[imsU]*i`)
	longRange  = regexp.MustCompile(`-(\\[x0-7]|[^\x00-\x7f])`)
)

const stepsOfName, stepsOfFold = 256, 8192

// writtenOut returns what reading a pattern takes beside its size, in steps.
func writtenOut(text string) int {
	steps := stepsOfName * len(namedClass.FindAllStringIndex(text, -1))
	if foldsCases.MatchString(text) {
		steps += stepsOfFold * len(longRange.FindAllStringIndex(text, -1))
	}
	return steps
}

// sizes returns about the size of a pattern's program, and of the classes of characters in it. A class that
// is repeated is there once.
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
func (p *pattern) matches(text string, b *Budget) bool {
	return b.spend(p.size*len(text)/patternSteps+1) && p.MatchString(text)
}
