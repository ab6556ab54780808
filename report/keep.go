package report

// bounds say how much is kept of a run.
type bounds struct {
	// entries is how many are kept, half of them from the beginning, half from the end.
	entries int
	// bytes bounds their details in the same way; 0 keeps none.
	bytes int64
}

// kept are the entries of a run: all, or those at its beginning and its end.
type kept struct {
	bounds
	head, tail []entry
	// headBytes and tailBytes are those of the details that are held; bare counts the entries of tail whose
	// details were left out.
	headBytes, tailBytes int64
	bare                 int
	// omitted counts the entries between head and tail, stripped those without their details.
	omitted, stripped int
}

func (k *kept) add(e entry) {
	if k.bytes == 0 {
		e.detail = nil
	}
	size := e.detail.size()
	if len(k.tail) == 0 && len(k.head) < k.entries/2 && k.headBytes+size <= k.bytes/2 {
		k.head, k.headBytes = append(k.head, e), k.headBytes+size
		return
	}
	k.tail, k.tailBytes = append(k.tail, e), k.tailBytes+size
	for k.tailBytes > k.bytes/2 {
		k.strip()
	}
	if len(k.tail) > k.entries-k.entries/2 {
		k.drop()
	}
}

// strip leaves the oldest details of the tail out.
func (k *kept) strip() {
	e := &k.tail[k.bare]
	if e.detail != nil {
		k.tailBytes -= e.detail.size()
		e.detail, e.bare = nil, true
		k.stripped++
	}
	k.bare++
}

// drop leaves the oldest entry of the tail out.
func (k *kept) drop() {
	switch {
	case k.bare > 0:
		k.bare--
	case k.tail[0].detail != nil:
		k.tailBytes -= k.tail[0].detail.size()
	}
	k.tail[0] = entry{}
	k.tail = k.tail[1:]
	k.omitted++
}

// all are the entries in order; what is between the two was left out.
func (k *kept) all() [2][]entry { return [2][]entry{k.head, k.tail} }
