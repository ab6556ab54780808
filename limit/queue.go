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
	Weight   int64 `json:"weight"`
	Deadline int64 `json:"deadline,omitempty"`
	Retry    bool  `json:"retry,omitempty"`
}

// before reports whether a goes before b.
func (a *waiter) before(b *waiter) bool { return a.Key < b.Key || a.Key == b.Key && a.No < b.No }

// queue is a binary heap.
type queue []waiter

func (q *queue) push(w waiter) {
	*q = append(*q, w)
	q.up(len(*q) - 1)
}

// remove takes the n-th waiter out.
func (q *queue) remove(n int) {
	last := len(*q) - 1
	(*q)[n] = (*q)[last]
	*q = (*q)[:last]
	if n < last {
		q.down(n)
		q.up(n)
	}
	if last > 64 && last < cap(*q)/4 { // memory follows what waits now
		*q = append(make(queue, 0, cap(*q)/2), *q...)
	}
}

func (q *queue) up(n int) {
	for h := *q; n > 0; {
		above := (n - 1) / 2
		if !h[n].before(&h[above]) {
			return
		}
		h[n], h[above] = h[above], h[n]
		n = above
	}
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
