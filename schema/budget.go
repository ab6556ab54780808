package schema

// Budget is how much work checks may take: those of one reply share one, so that no reply takes long, whatever it holds. Work is
// counted in looks of one schema at one value, so that the same document gets the same answer on every machine. A nil *Budget
// stands for a fresh one. Not for concurrent use.
type Budget struct{ left int }

// maxWork is about a second of work.
const maxWork = 4 << 20

// NewBudget returns the budget for the checks of one reply.
func NewBudget() *Budget { return &Budget{left: maxWork} }

// spend takes from the budget; false where too little is left, and then nothing is left for anyone.
func (b *Budget) spend(work int) bool {
	if b.left -= work; b.left < 0 {
		b.left = -1
		return false
	}
	return true
}

// spent reports whether the budget was not enough.
func (b *Budget) spent() bool { return b.left < 0 }
