package report

// kept are the entries of a run: all, or those at its beginning and its end.
type kept struct {
	// entries is how many are kept, half of them from the beginning, half from the end; bytes bounds the
	// details of pages in the same way.
	entries int
	bytes   int64

	head, tail []entry
	// headBytes and tailBytes are those of the details that are held; bare counts the entries of tail whose
	// details were left out.
	headBytes, tailBytes int64
	bare                 int
	// omitted counts the entries between head and tail, stripped those without their details.
	omitted, stripped int
}

func (k *kept) add(e entry) {
	size := e.shown.bytes()
	if len(k.tail) == 0 && len(k.head) < k.entries/2 && k.headBytes+size <= k.bytes/2 {
		k.head, k.headBytes = append(k.head, e), k.headBytes+size
		return
	}
	k.tail, k.tailBytes = append(k.tail, e), k.tailBytes+size
	for k.tailBytes > k.bytes/2 {
		k.strip(&k.tail[k.bare])
		k.bare++
	}
	if len(k.tail) > k.entries-k.entries/2 {
		k.tailBytes -= k.tail[0].shown.bytes()
		k.bare = max(0, k.bare-1)
		k.tail[0] = entry{}
		k.tail = k.tail[1:]
		k.omitted++
	}
}

// strip leaves the details of an entry out.
func (k *kept) strip(e *entry) {
	if e.shown != nil {
		k.tailBytes -= e.shown.bytes()
		e.shown, e.bare = nil, true
		k.stripped++
	}
}
