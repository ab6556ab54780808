package simulate

import (
	"container/heap"
	"time"
)

// Clock runs functions in the order of their times, and those of one time in the order in which they were
// set.
type Clock struct {
	now   int64
	set   int64
	tasks tasks
	// stopped ends the run before all is done.
	stopped bool
}

type task struct {
	at, no int64
	do     func()
}

type tasks []task

func (t tasks) Len() int { return len(t) }
func (t tasks) Less(a, b int) bool {
	return t[a].at < t[b].at || t[a].at == t[b].at && t[a].no < t[b].no
}
func (t tasks) Swap(a, b int) { t[a], t[b] = t[b], t[a] }
func (t *tasks) Push(v any)   { *t = append(*t, v.(task)) }
func (t *tasks) Pop() any {
	last := len(*t) - 1
	v := (*t)[last]
	(*t)[last] = task{}
	*t = (*t)[:last]
	return v
}

// After runs do after d, at the earliest now.
func (c *Clock) After(d time.Duration, do func()) { c.at(c.now+int64(d), do) }

func (c *Clock) at(t int64, do func()) {
	c.set++
	heap.Push(&c.tasks, task{max(t, c.now), c.set, do})
}

// run runs all that is set.
func (c *Clock) run() {
	for len(c.tasks) > 0 && !c.stopped {
		t := heap.Pop(&c.tasks).(task)
		c.now = t.at
		t.do()
	}
}

// Now returns the time, as the packages of the core take it.
func (c *Clock) Now() time.Time { return time.Unix(0, c.now).UTC() }
