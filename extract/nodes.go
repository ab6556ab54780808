package extract

import "iter"

type kind uint8

const (
	object kind = iota + 1
	list
	str
	scalar
	call
)

// node is a value or a Python call. Its text is src[start:end] and its JSON out[from:to]. If open is set, it
// was not read to its end.
type node struct {
	kind kind
	open bool
	// dict is set if the call has one object as its argument, argued if any argument was read.
	dict, argued bool
	// filled is set if it has a child, mixed if one of them is no scalar.
	filled, mixed bool
	start, end    int32
	from, to      int32
	// name is where the name of a member begins in out; 0 for other values. It ends before the colon. For a
	// call, name is where its name ends in the text.
	name        int32
	child, next int32
}

// maxText is how much of a text is read: what is written of it, less than eight times as much, has offsets of
// 32 bits.
const maxText = 256 << 20

// nodes are the nodes of a literal. Node 0 is none.
type nodes struct{ all []node }

// firstNodes is the room that is made at once, as most literals have no more nodes.
const firstNodes = 16

// clear leaves only node 0. It reuses the memory of an earlier literal.
func (s *nodes) clear() {
	if s.all == nil {
		s.all = make([]node, 1, firstNodes)
	}
	s.all = s.all[:1]
}

// at is node n. It lasts until another is added.
func (s *nodes) at(n int) *node { return &s.all[n] }

// kind is that of node n, child its first child, next the child after it, begin where it begins in the text.
func (s *nodes) kind(n int) kind { return s.at(n).kind }
func (s *nodes) child(n int) int { return int(s.at(n).child) }
func (s *nodes) next(n int) int  { return int(s.at(n).next) }
func (s *nodes) begin(n int) int { return int(s.at(n).start) }

// children yields the children of node n in order.
func (s *nodes) children(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for m := s.child(n); m != 0 && yield(m); m = s.next(m) {
		}
	}
}

// add adds a node and returns its number.
func (s *nodes) add(of node) int {
	s.all = append(s.all, of)
	return len(s.all) - 1
}
