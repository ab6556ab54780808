package schema

// tree reads a value as [read] gives it; false where it is not strict JSON, or beyond a bound.
func (w *walk) tree() (any, bool) {
	switch w.peek() {
	case '{':
		return w.members()
	case '[':
		return w.items()
	}
	var v scalar
	ok := w.scalar(&v)
	return v.value(), ok
}

func (w *walk) items() (any, bool) {
	if w.depth++; w.depth > w.maxDepth {
		return nil, false
	}
	w.at++
	list := []any{}
	for more := w.peek() != ']'; more; more = w.eat(',') {
		v, ok := w.tree()
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	w.depth--
	return list, w.eat(']')
}

func (w *walk) members() (any, bool) {
	if w.depth++; w.depth > w.maxDepth {
		return nil, false
	}
	w.at++
	members := map[string]any{}
	for more := w.peek() != '}'; more; more = w.eat(',') {
		w.peek()
		name, _, ok := w.str()
		if _, twice := members[name]; twice || !ok || !w.eat(':') {
			return nil, false
		}
		if members[name], ok = w.tree(); !ok {
			return nil, false
		}
	}
	w.depth--
	return members, w.eat('}')
}
