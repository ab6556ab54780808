package report

import "iter"

// The bounds of what is held in memory, and so of what is shown. The report says what it leaves out.
const (
	// maxEntries is the most entries that a timeline shows of a run: the first half and the last half.
	maxEntries = 20_000
	// maxPageEntries is the most entries that a page shows of all runs together, and maxPageRuns the most
	// runs: again the first and the last.
	maxPageEntries = 4_000
	maxPageRuns    = 200
	// maxPageText is the most bytes of one text on a page.
	maxPageText = 256 << 10
	// maxPage is the most bytes of all texts on a page, from the first and the last entries.
	maxPage = 24 << 20
)

// kept holds entries: all of them, or the first and the last.
type kept struct {
	// entries is the most entries: half of them are the first, half the last. bytes bounds the size of
	// their details in the same way.
	entries int
	bytes   int64

	head, tail []entry
	// headBytes and tailBytes are the sizes of the details. bare is how many entries at the beginning of
	// tail have lost theirs.
	headBytes, tailBytes int64
	bare                 int
	// omitted counts the entries between head and tail, stripped those that have lost their details.
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

// all yields the entries in order.
func (k *kept) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, part := range [][]entry{k.head, k.tail} {
			for n := range part {
				if !yield(&part[n]) {
					return
				}
			}
		}
	}
}

// strip drops the details of an entry.
func (k *kept) strip(e *entry) {
	if e.shown != nil {
		k.tailBytes -= e.shown.bytes()
		e.shown, e.bare = nil, true
		k.stripped++
	}
}
