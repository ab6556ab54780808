package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/retake-go/retake/internal/canon"
)

// walk is one pass of a program over a document. It never refuses what is not strict JSON or beyond a bound: that it leaves
// unsure, for the slow path to say.
type walk struct {
	cursor
	depth, maxDepth int
	found           findings // once there is a fault in it, nothing more is put into variables
	within          bool     // a branch
	asked           map[question]verdict
	flat            int // the depth from which on it does not look into what it finds; 0 for none
}

// question is what a branch says of the container that begins at an offset.
type question struct {
	branch *node
	start  int
}

// decide holds a document to a program, and puts its value into a variable where the program is bound to its type. It stops at the
// first fault.
func decide(n *node, text string, lim Limits, to reflect.Value, form *canon.Form) verdict {
	w := walk{cursor: cursor{text: text, form: form}, maxDepth: lim.MaxDepth}
	return w.run(n, to)
}

// run walks the whole document, which is no longer than the limits allow.
func (w *walk) run(n *node, to reflect.Value) verdict {
	if !utf8.ValidString(w.text) {
		return unsure
	}
	told := w.value(n, to)
	if told == good && !w.ends() {
		return unsure
	}
	return told
}

func (w *walk) value(n *node, to reflect.Value) verdict {
	switch w.peek() {
	case '{':
		return w.container(n, to, kindObject)
	case '[':
		return w.container(n, to, kindArray)
	}
	start := w.at
	var v scalar
	if !w.scalar(&v) {
		return unsure
	}
	told := n.judge(&v)
	switch {
	case told == bad && w.found.asked():
		return w.found.refuseScalar(n, &v)
	case told != good || w.found.any():
		return told
	case n.bind.kind == bindOther:
		return decode(w.text[start:w.at], to)
	case n.bind.kind != bindNothing:
		return w.set(n.bind, &v, to)
	}
	return good
}

// scalar reads a scalar; false where there is none.
func (w *walk) scalar(v *scalar) (ok bool) {
	switch w.peek() {
	case '"':
		v.kind = kindString
		v.text, v.shared, ok = w.str()
		return ok
	case 't':
		v.kind, v.truth = kindBool, true
		return w.word("true")
	case 'f':
		v.kind = kindBool
		return w.word("false")
	case 'n':
		v.kind = kindNull
		return w.word("null")
	}
	return w.number(v)
}

const (
	maxIntDigits  = 18  // the length of a number's text up to which it fits 64 bits
	maxWideDigits = 300 // and up to which a whole one is within the range of a double
)

// number reads a number; false where there is none, or one beyond the bounds.
func (w *walk) number(v *scalar) bool {
	var form numberForm
	v.text, form = w.num()
	v.kind = kindNumber
	switch {
	case form == formNone:
		return false
	case form == formWhole && len(v.text) <= maxIntDigits:
		v.kind |= kindInteger
		v.whole, v.int = true, smallInt(v.text)
		return true
	case form == formWhole:
		v.kind |= kindInteger
		return len(v.text) <= maxWideDigits
	}
	if (form == formPower || len(v.text) > maxWideDigits) && !numberInBounds([]byte(v.text)) {
		return false
	}
	zeros := form == formFraction && strings.HasSuffix(strings.TrimRight(v.text, "0"), ".")
	if zeros || form == formPower && isInteger(json.Number(v.text)) {
		v.kind |= kindInteger
	}
	return true
}

func smallInt(text string) (n int64) {
	for i := range len(text) {
		if text[i] != '-' {
			n = 10*n + int64(text[i]-'0')
		}
	}
	if text[0] == '-' {
		return -n
	}
	return n
}

// container walks an object or an array, and asks the branches of its node about it as a whole.
func (w *walk) container(n *node, to reflect.Value, kind kinds) verdict {
	start, mark := w.at, len(w.found.issues)
	if w.found.full() {
		n, to = anything, reflect.Value{}
	}
	fits := n.allows(kind) && !n.never && n.values == nil
	switch {
	case n.format != nil:
		return unsure
	case !fits && !w.found.asked():
		return bad
	case !fits:
		n, to = n.unfit(), reflect.Value{}
	}
	if w.flat > 0 && w.depth >= w.flat && fits {
		n, to = anything, reflect.Value{}
	}
	told := w.inside(n, to, kind)
	if told == good && n.more != nil {
		told = w.ask(n, start)
	}
	if told == bad && w.found.asked() {
		return w.refuse(n, start, mark)
	}
	if told == good && n.bind.kind == bindOther && !w.found.any() {
		return decode(w.text[start:w.at], to)
	}
	return told
}

// unfit is a node that walks to the end of a container that n refuses, and then refuses it as n does.
func (n *node) unfit() *node {
	u := *anything
	u.lib, u.whole, u.never = n.lib, n.whole, true
	u.more = &branches{not: anything}
	return &u
}

func (w *walk) inside(n *node, to reflect.Value, kind kinds) verdict {
	if w.depth == w.maxDepth || !n.bind.takes(kind) && !w.found.any() {
		return unsure
	}
	w.depth++
	var told verdict
	if kind == kindArray {
		told = w.array(n, to)
	} else {
		told = w.object(n, to)
	}
	w.depth--
	return told
}

// ask holds the container that begins at start to each branch of its node, and to what is said of what they leave, only deciding.
func (w *walk) ask(n *node, start int) verdict {
	told := n.more.judge(func(sub *node) verdict { return w.branch(sub, start) })
	if told == good {
		return w.left(n, start, nil)
	}
	return told
}

// branch is the answer of one. Within a branch it is remembered: alternatives that lead back to themselves ask once for each way there.
func (w *walk) branch(n *node, start int) verdict {
	q := question{n, start}
	if told, known := w.asked[q]; known {
		return told
	}
	again := w.again(start)
	again.within = true
	told := again.value(n, reflect.Value{})
	if w.asked = again.asked; w.within {
		if w.asked == nil {
			w.asked = map[question]verdict{}
		}
		w.asked[q] = told
	}
	return told
}

// again is a walk that begins once more at an offset, and only decides.
func (w *walk) again(start int) walk {
	return walk{cursor: cursor{text: w.text, at: start}, depth: w.depth, maxDepth: w.maxDepth, asked: w.asked, flat: w.flat}
}

func (w *walk) array(n *node, to reflect.Value) verdict {
	w.at++
	var list, elem reflect.Value
	bound := n.bind.kind == bindSlice && !w.found.any()
	if bound {
		list = n.bind.pointee(to)
	}
	all := itemsOf{mark: len(w.found.issues)}
	for more := w.peek() != ']'; more; more = w.eat(',') {
		if bound && !w.found.any() {
			elem = extend(list, all.number)
		}
		w.found.enter(^leg(all.number))
		w.peek()
		start := w.at
		if told := w.value(n.list.item(all.number), elem); told != good {
			return told
		}
		if n.list.contains != nil && !all.note(w.branch(n.list.contains.node, start)) {
			return unsure
		}
		w.found.leave()
		if all.number++; n.list.unique {
			all.texts = append(all.texts, w.text[start:w.at])
		}
	}
	if !w.eat(']') {
		return unsure
	}
	if bound && all.number == 0 {
		list.Set(reflect.MakeSlice(list.Type(), 0, 0))
	}
	return w.counted(n, &all)
}

// itemsOf are what a walk knows of the items of an array.
type itemsOf struct {
	number  int
	fitting int      // those that the array is to contain
	texts   []string // where all are to differ
	mark    int      // the issues that were found before
}

// note counts an item that fits; false where that is not sure.
func (i *itemsOf) note(fits verdict) bool {
	if fits == good {
		i.fitting++
	}
	return fits != unsure
}

// counted judges an array by what its items are together.
func (w *walk) counted(n *node, i *itemsOf) verdict {
	t, differ := n.list, good
	if t.unique {
		differ = distinct(i.texts)
	}
	extra := i.number - len(t.first)
	told := max(t.counts(i.number), t.contains.counts(i.fitting), differ, when(!t.closed || extra <= 0))
	if told != bad || !w.found.asked() {
		return told
	}
	var all []jsonschema.ErrorKind
	if i.number < t.min {
		all = append(all, &kind.MinItems{Got: i.number, Want: t.min})
	}
	if t.max >= 0 && i.number > t.max {
		all = append(all, &kind.MaxItems{Got: i.number, Want: t.max})
	}
	if differ == bad {
		all = append(all, &kind.UniqueItems{})
	}
	if t.closed && extra > 0 {
		all = append(all, &kind.AdditionalItems{Count: extra})
	}
	if t.contains.counts(i.fitting) == bad {
		all = append(all, t.contains.refuses(i.fitting)...)
	}
	return w.found.refuseCount(n, []any{}, i.mark, all)
}

// refuses is what the library says where so many items fit: that they are too few, too many, or, of nonsense, both.
func (t *containsTest) refuses(n int) (all []jsonschema.ErrorKind) {
	switch {
	case n >= t.min:
	case t.counted:
		all = append(all, &kind.MinContains{Want: t.min})
	default:
		all = append(all, &kind.Contains{})
	}
	if t.max >= 0 && n > t.max {
		all = append(all, &kind.MaxContains{Want: t.max})
	}
	return all
}

// firstItems is the room made for the items of a list, which doubles as it fills.
const firstItems = 4

// extend makes a list one longer, and returns its last element.
func extend(list reflect.Value, count int) reflect.Value {
	if count == list.Cap() {
		list.Grow(max(firstItems, count))
	}
	list.SetLen(count + 1)
	return list.Index(count)
}
