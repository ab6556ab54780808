package extract

import "strings"

// Names are the names of the tools that a reply may call. The zero value has none. They never change and are
// safe for concurrent use.
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

// namespaces are prefixes that models write before the name of a tool.
var namespaces = [...]string{functions, "tools.", "default_api."}

// functions is the namespace of tools in the prompts of OpenAI's models.
const functions = "functions."

// WithoutNamespace returns the name of a native call without a leading "functions.", and the repair that this
// is. ok is false for any other name, and if the options do not read aliases. It is safe for concurrent use.
func (o Options) WithoutNamespace(written string) (name string, by Repair, ok bool) {
	if o.isOff(formAlias) {
		return "", Repair{}, false
	}
	name, ok = strings.CutPrefix(written, functions)
	return name, Repair{Kind: formAlias}, ok
}

// NewNames returns Names of the given names. Empty names are left out, repeated ones count once.
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

// lookup returns the registered name for a written one, and whether the written one is an alias.
func (n Names) lookup(written string) (name string, alias, known bool) {
	bare := written
	for _, namespace := range namespaces {
		bare = strings.TrimPrefix(bare, namespace)
	}
	for _, spelling := range [...]string{written, bare, strings.TrimSuffix(written, ".call")} {
		if _, ok := n.exact[spelling]; ok {
			return spelling, spelling != written, true
		}
		if name := n.byAlias(spelling); name != "" {
			return name, true, true
		}
	}
	return written, false, false
}

// call begins a call of a tool by its written name. If that is an alias, the repair is at offset.
func (n Names) call(written string, offset int) (c Call, known bool) {
	name, alias, known := n.lookup(written)
	c = Call{Name: name, Known: known}
	if alias {
		c.Repairs = []Repair{{formAlias, offset}}
	}
	return c, known
}

func (n Names) byAlias(written string) string {
	// A safe spelling has at most as many bytes as the name, and a written one at most 4 for each of those.
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
