package looptest

// Computes sets whether the process seems to compute when the clock looks.
func (c *Clock) Computes(yes bool) { c.computes = func() bool { return yes } }
