package schema

import (
	"reflect"
	"slices"
)

// What nothing else describes of an object or an array is known when all that it keeps to is: the node itself, what it demands besides,
// and which of its alternatives fit.

// left holds the members or items that nothing describes, of the container of a node that begins at start and fits all else, to what the
// node says of them. With findings it goes on after the first fault.
func (w *walk) left(n *node, start int, to *findings) verdict {
	members := w.text[start] == '{'
	rest := n.more.restItems
	if members {
		rest = n.more.restMembers
	}
	if rest == nil {
		return good
	}
	by, told := w.keeping(nil, n, start)
	if told != good {
		return told
	}
	again := w.again(start)
	again.depth, again.within = w.depth+1, true
	if to != nil {
		again.found = *to
	}
	if members {
		told = again.leftMembers(n, by, rest)
	} else {
		told = again.leftItems(n, by, rest)
	}
	if w.asked = again.asked; to != nil {
		*to = again.found
	}
	return told
}

// keeping adds to a list a node that the container which begins at start fits, and all within it that this holds of.
func (w *walk) keeping(list []*node, n *node, start int) ([]*node, verdict) {
	list = append(list, n)
	if n.more == nil {
		return list, good
	}
	sure := n.more.all
	maybe := slices.Concat(n.more.any, n.more.one)
	if n.more.cond != nil {
		switch w.branch(n.more.cond, start) {
		case unsure:
			return nil, unsure
		case good:
			sure = appendNode(slices.Concat(sure, []*node{n.more.cond}), n.more.onTrue)
		case bad:
			sure = appendNode(slices.Clone(sure), n.more.onElse)
		}
	}
	for _, sub := range maybe {
		switch w.branch(sub, start) {
		case unsure:
			return nil, unsure
		case good:
			sure = append(slices.Clip(sure), sub)
		}
	}
	told := good
	for _, sub := range sure {
		if list, told = w.keeping(list, sub, start); told != good {
			return nil, told
		}
	}
	return list, good
}

func appendNode(list []*node, n *node) []*node {
	if n == nil {
		return list
	}
	return append(list, n)
}

func (w *walk) leftMembers(of *node, by []*node, rest *node) verdict {
	w.at++
	for more := w.peek() != '}'; more; more = w.eat(',') {
		w.peek()
		start := w.at
		name, _, ok := w.str()
		if !ok || !w.eat(':') {
			return unsure
		}
		sub := rest
		if slices.ContainsFunc(by, func(n *node) bool { return n.describes(name, of) }) {
			sub = anything
		}
		w.found.enter(leg(start))
		if told := w.value(sub, reflect.Value{}); told != good {
			return told
		}
		w.found.leave()
	}
	return good
}

// describes reports whether a node says what is right of a member; one within that says it of what is left, of all.
func (n *node) describes(name string, of *node) bool {
	o := n.object
	if o.saidRest || n != of && n.more != nil && n.more.restMembers != nil {
		return true
	}
	if at, named := o.find(name, 0); named && o.said>>at&1 != 0 {
		return true
	}
	_, number := o.matching(name)
	return number > 0
}

func (w *walk) leftItems(of *node, by []*node, rest *node) verdict {
	w.at++
	number := 0
	for more := w.peek() != ']'; more; more = w.eat(',') {
		w.peek()
		described, told := w.describesItem(by, of, number)
		if told != good {
			return told
		}
		sub := rest
		if described {
			sub = anything
		}
		w.found.enter(^leg(number))
		if told := w.value(sub, reflect.Value{}); told != good {
			return told
		}
		w.found.leave()
		number++
	}
	return good
}

// describesItem is the same of the item that begins here.
func (w *walk) describesItem(by []*node, of *node, number int) (bool, verdict) {
	for _, n := range by {
		t := n.list
		if t.said || number < len(t.first) || n != of && n.more != nil && n.more.restItems != nil {
			return true, good
		}
		if t.contains != nil && t.contains.marks {
			if told := w.branch(t.contains.node, w.at); told != bad {
				return told == good, when(told == good).orUnsure()
			}
		}
	}
	return false, good
}
