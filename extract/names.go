package extract

import "strings"

// Names knows the tools a reply may call. The zero value knows none. It is never changed and safe for
// concurrent use.
//
// A written name means a tool if it is the tool's name. It also means the tool if both are equal once every
// character outside [A-Za-z0-9_-] is replaced by "_", and no other tool is: providers allow no other
// characters, so that math.gcd is offered as math_gcd. A leading "functions.", "tools." or "default_api." and
// a trailing ".call", as some models write, are ignored.
type Names struct {
	exact map[string]struct{}
	// alias holds the registered name by its safe spelling; "" where two tools share it.
	alias map[string]string
	// longest is the length in bytes of the longest name.
	longest int
}

// namespaces are what models write before the name of a function they were offered.
var namespaces = [...]string{"functions.", "tools.", "default_api."}

// NewNames returns the Names that know exactly names. Empty names are passed over, repeated ones count once.
func NewNames(names []string) Names {
	n := Names{exact: make(map[string]struct{}, len(names)), alias: make(map[string]string, len(names))}
	for _, name := range names {
		if _, again := n.exact[name]; again || name == "" {
			continue
		}
		n.exact[name] = struct{}{}
		n.longest = max(n.longest, len(name))
		safe := safeName(name)
		if _, taken := n.alias[safe]; taken {
			n.alias[safe] = ""
			continue
		}
		n.alias[safe] = name
	}
	return n
}

// lookup returns the registered name that written stands for, and whether it is an alias.
func (n Names) lookup(written string) (name string, alias, known bool) {
	spellings := []string{written}
	for _, namespace := range namespaces {
		if bare, ok := strings.CutPrefix(written, namespace); ok {
			spellings = append(spellings, bare)
		}
	}
	for _, spelling := range append(spellings, strings.TrimSuffix(written, ".call")) {
		if _, ok := n.exact[spelling]; ok {
			return spelling, spelling != written, true
		}
		if name := n.byAlias(spelling); name != "" {
			return name, true, true
		}
	}
	return written, false, false
}

// call starts a call of the tool that written stands for; an alias is noted at offset.
func (n Names) call(written string, offset int) (c Call, known bool) {
	name, alias, known := n.lookup(written)
	c = Call{Name: name, Known: known}
	if alias {
		c.Repairs = []Repair{{Alias, offset}}
	}
	return c, known
}

func (n Names) byAlias(written string) string {
	// A safe spelling is never longer than the name in bytes, and a written one at most as long as a rune per
	// byte makes it.
	if written == "" || len(written) > 4*n.longest {
		return ""
	}
	return n.alias[safeName(written)]
}

// safeName is name with "_" for every character that providers do not allow.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r < 0x80 && isAlnum(byte(r)) {
			return r
		}
		return '_'
	}, name)
}

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
