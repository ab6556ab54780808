package schema

import (
	"regexp/syntax"
	"unicode/utf8"
)

// runs is a pattern of a whole text, as most are: characters of classes, one run after another. Where a run
// ends is never in doubt, so each character is looked at once.
type runs []run

// run is how many characters of a class there may be. The class is pairs of the first character and the last.
type run struct {
	class       []rune
	least, most int // most is -1 where there is no bound
}

// runsOf are the runs of a pattern; nil where it is none of runs.
func runsOf(re *syntax.Regexp) runs {
	if re.Op != syntax.OpConcat || re.Sub[0].Op != syntax.OpBeginText || re.Sub[len(re.Sub)-1].Op != syntax.OpEndText {
		return nil
	}
	all, isOne := runs(nil).with(re.Sub[1 : len(re.Sub)-1]...)
	for n, r := range all {
		isOne = isOne && (r.least == r.most || r.isApart(all[n+1:]))
	}
	if !isOne {
		return nil
	}
	return all
}

// with adds the runs of parts of a pattern; false where one is no run.
func (all runs) with(parts ...*syntax.Regexp) (_ runs, isOne bool) {
	for _, re := range parts {
		least, most := 1, 1
		switch re.Op {
		case syntax.OpStar:
			least, most = 0, -1
		case syntax.OpPlus:
			most = -1
		case syntax.OpQuest:
			least = 0
		case syntax.OpRepeat:
			least, most = re.Min, re.Max
		}
		part := re
		if re.Op >= syntax.OpStar && re.Op <= syntax.OpRepeat {
			part = re.Sub[0]
		}
		switch one := (run{part.Rune, least, most}); {
		case part.Op == syntax.OpCharClass:
			all = append(all, one)
		case part.Op == syntax.OpLiteral && part.Flags&syntax.FoldCase == 0 && (len(part.Rune) == 1 || part == re):
			for _, char := range part.Rune {
				one.class = []rune{char, char}
				all = append(all, one)
			}
		case (part.Op == syntax.OpConcat || part.Op == syntax.OpCapture) && least == most:
			for range least {
				if all, isOne = all.with(part.Sub...); !isOne {
					return nil, false
				}
			}
		default:
			return nil, false
		}
	}
	return all, true
}

// isApart reports whether no character of the run can be of the runs that may follow.
func (r run) isApart(following runs) bool {
	for _, next := range following {
		for n := 0; n < len(next.class); n += 2 {
			for m := 0; m < len(r.class); m += 2 {
				if next.class[n] <= r.class[m+1] && r.class[m] <= next.class[n+1] {
					return false
				}
			}
		}
		if next.least > 0 {
			break
		}
	}
	return true
}

func (r run) has(char rune) bool {
	for n := 0; n < len(r.class); n += 2 {
		if char <= r.class[n+1] {
			return char >= r.class[n]
		}
	}
	return false
}

// MatchString reports whether a text matches.
func (all runs) MatchString(text string) bool {
	for _, r := range all {
		count := 0
		for ; count != r.most && text != ""; count++ {
			char, size := utf8.DecodeRuneInString(text)
			if !r.has(char) {
				break
			}
			text = text[size:]
		}
		if count < r.least {
			return false
		}
	}
	return text == ""
}
