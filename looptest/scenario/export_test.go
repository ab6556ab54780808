package scenario

// RestoreEverywhere steps a second state alongside the first. After every event it is written to a snapshot
// and read back. Effects and state must be the same as those of the first.
func RestoreEverywhere() Option { return way(func(sc *story) { sc.restores = true }) }
