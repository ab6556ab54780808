package schema

import (
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A program is what the fast path runs: the compiled schema once more, as nodes that a walk over the bytes of a document
// consults as it goes. It knows the common keywords. A schema with any other has no program, and the library judges alone;
// a value that a program cannot be sure of it leaves to the library too. A fuzz target holds the two equal.

// verdict is what a program says of a value. What must please several has the largest of their verdicts.
type verdict uint8

const (
	good   verdict = iota
	bad            // the library would refuse it
	unsure         // the library must judge
)

// node is what one place of a document is held to.
type node struct {
	lib    *jsonschema.Schema // what the library judges the place by
	whole  *jsonschema.Schema // the same, and that null may stand there; else lib
	types  kinds              // none: all
	orNull bool               // null is good whatever else is said
	never  bool               // nothing is good
	values *valueTests
	text   *textTests
	number *numberTests
	list   *listTests
	object *objectTests
	format *formatTest
	more   *branches
	bind   binding
	said   *atomic.Pointer[[]recalled] // what the library said of what the node refused; nil where that is not kept
}

// kinds is a set of kinds of JSON values. Whole numbers are numbers and integers.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBool
	kindNumber
	kindInteger
	kindString
	kindArray
	kindObject
)

var kindNamed = map[string]kinds{
	"null": kindNull, "boolean": kindBool, "number": kindNumber | kindInteger, "integer": kindInteger, "string": kindString,
	"array": kindArray, "object": kindObject,
}

func (n *node) allows(k kinds) bool { return n.types == 0 || n.types&k != 0 }

type listTests struct {
	first    []*node // of the first items
	items    *node   // of the others
	closed   bool    // no others
	said     bool    // the schema says what of the others is right
	min, max int     // max < 0: no bound
	unique   bool
	contains *containsTest
}

// containsTest is what some items are to fit.
type containsTest struct {
	node     *node
	min, max int  // max < 0: no bound
	counted  bool // the schema gives the least number
	marks    bool // items that fit are as good as described
}

func (t *containsTest) counts(n int) verdict {
	return when(t == nil || n >= t.min && (t.max < 0 || n <= t.max))
}

// item is what the item at a place is held to.
func (t *listTests) item(n int) *node {
	if n < len(t.first) {
		return t.first[n]
	}
	return t.items
}

func (t *listTests) counts(n int) verdict { return when(n >= t.min && (t.max < 0 || n <= t.max)) }

// distinct reports whether the items of a list, as written, all differ. Two texts can mean one value unless they are strings
// without escapes or plain integers.
func distinct(items []string) verdict {
	seen := make(map[string]bool, len(items))
	for _, text := range items {
		plain := text[0] == '"' && strings.IndexByte(text, '\\') < 0 || text[0] >= '0' && text[0] <= '9' && isPlainInteger([]byte(text))
		switch {
		case len(items) == 1:
		case !plain:
			return unsure
		case seen[text]:
			return bad
		}
		seen[text] = true
	}
	return good
}

type objectTests struct {
	members  []member
	byName   map[string]int // where there are many
	required uint64         // bit per member
	said     uint64         // those that the schema describes
	needs    []need
	patterns []pattern
	closed   bool  // no other members
	saidRest bool  // the schema says what of other members is right
	rest     *node // what other members are held to
	names    *node // what names are held to; nil: nothing
	min, max int   // max < 0: no bound
}

// need is what a member that is there requires: a bit each.
type need struct {
	member int
	others uint64
	old    bool // in the words of old drafts
}

// pattern is what members are held to whose names match.
type pattern struct {
	name jsonschema.Regexp
	node *node
}

// matching are the patterns that a name matches: the one, and how many.
func (o *objectTests) matching(name string) (one *node, number int) {
	for _, p := range o.patterns {
		if p.name.MatchString(name) {
			one, number = p.node, number+1
		}
	}
	return one, number
}

func (o *objectTests) counts(n int) verdict { return when(n >= o.min && (o.max < 0 || n <= o.max)) }

// member is a member the schema names.
type member struct {
	name string
	node *node
	// field is where the value goes in the Go struct, where there is one: an index, or the path of one in embedded structs.
	field int
	path  []int
}

const (
	maxNamed  = 64 // members a program can name: a bit each
	fewToScan = 8  // members that are found sooner by looking at each
)

// find returns the place of a member. Documents tend to have members in the order of the schema, so it looks at next first.
func (o *objectTests) find(name string, next int) (int, bool) {
	if next < len(o.members) && o.members[next].name == name {
		return next, true
	}
	if o.byName != nil {
		n, ok := o.byName[name]
		return n, ok
	}
	for n := range o.members {
		if o.members[n].name == name {
			return n, true
		}
	}
	return 0, false
}

// branches are schemas that judge the same value.
type branches struct {
	all, any, one        []*node
	not                  *node
	cond, onTrue, onElse *node
	restMembers          *node // of members that nothing else describes; nil: nothing
	restItems            *node
}

// binding is how a value is put into a Go variable.
type binding struct {
	kind     bindKind
	pointers int // to be followed first
	elem     reflect.Type
	bits     int
}

type bindKind uint8

const (
	bindNothing bindKind = iota
	bindString
	bindInt
	bindUint
	bindFloat
	bindBool
	bindSlice
	bindMap
	bindTexts // a map[string]string
	bindStruct
	bindOther // by the decoder: types that read their own JSON, interfaces, arrays, bytes
)

// anything is what an unnamed place is held to: it need only be strict JSON.
var anything = func() *node {
	n := &node{}
	n.list = &listTests{items: n, max: -1}
	n.object = &objectTests{rest: n, max: -1}
	return n
}()
