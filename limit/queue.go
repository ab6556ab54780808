package limit

// waiter is an ask that waits.
type waiter struct {
	ID int64 `json:"id"`
	// Key orders the queue: the time of the ask, with what the session yields, less the head start of its
	// priority. Asks of the same key go by No, their number.
	Key      int64 `json:"key"`
	No       int64 `json:"no"`
	Turn     int64 `json:"turn"`
	Calls    int64 `json:"calls"`
	Tokens   int64 `json:"tokens"`
	Shared   bool  `json:"shared,omitempty"`
	Deadline int64 `json:"deadline,omitempty"`
	Retry    bool  `json:"retry,omitempty"`
}

func (a *waiter) before(b *waiter) bool { return a.Key < b.Key || a.Key == b.Key && a.No < b.No }

// queue is a binary heap.
type queue []waiter

func (q *queue) push(w waiter) {
	h := append(*q, w)
	for n := len(h) - 1; n > 0; {
		above := (n - 1) / 2
		if !h[n].before(&h[above]) {
			break
		}
		h[n], h[above] = h[above], h[n]
		n = above
	}
	*q = h
}

// pop takes the first waiter out.
func (q *queue) pop() waiter {
	first, last := (*q)[0], len(*q)-1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	q.down(0)
	if last > 64 && last < cap(*q)/4 { // memory follows what waits now
		*q = append(make(queue, 0, cap(*q)/2), *q...)
	}
	return first
}

func (q *queue) down(n int) {
	for h := *q; ; {
		least := n
		for child := 2*n + 1; child <= 2*n+2 && child < len(h); child++ {
			if h[child].before(&h[least]) {
				least = child
			}
		}
		if least == n {
			return
		}
		h[n], h[least] = h[least], h[n]
		n = least
	}
}

// ahead returns how many calls of those from n on go before w.
func (q queue) ahead(w *waiter, n int) (calls int64) {
	if n >= len(q) || !q[n].before(w) {
		return 0
	}
	return q[n].Calls + q.ahead(w, 2*n+1) + q.ahead(w, 2*n+2)
}
