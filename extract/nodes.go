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

// nodes are the nodes of a literal, in blocks, so that a text of very many calls takes little memory: none is
// copied when there are more. Node 0 is none.
type nodes struct {
	blocks [][]node
	count  int
}

// A text of brackets has many literals of a few nodes, so the first block is small.
const (
	firstNodes = 16
	blockNodes = 1024
)

func (s *nodes) at(n int) *node {
	if n < firstNodes {
		return &s.blocks[0][n]
	}
	n -= firstNodes
	return &s.blocks[1+n/blockNodes][n%blockNodes]
}

// kind returns that of node n, child its first child, next the child after it, begin where it begins in the
// text.
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
	n := s.count
	if s.count++; len(s.blocks) == 0 {
		s.blocks = append(s.blocks, make([]node, firstNodes))
	} else if 1+(n-firstNodes)/blockNodes == len(s.blocks) && n >= firstNodes {
		s.blocks = append(s.blocks, make([]node, blockNodes))
	}
	*s.at(n) = of
	return n
}

func (s *nodes) none() {
	s.count = 0
	s.add(node{})
}
