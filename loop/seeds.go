package loop

import "sync/atomic"

// seeds remembers which session the seed of a shared config serves. It is safe for concurrent use; nil serves
// any number of sessions.
type seeds struct{ first atomic.Pointer[string] }

// serve notes that the seed serves a session without a seed of its own. It returns a warning if it serves
// another one, too.
func (s *seeds) serve(seed, session string) []string {
	if s == nil || seed == "" || s.first.CompareAndSwap(nil, new(session)) || *s.first.Load() == session {
		return nil
	}
	return []string{"seed: several sessions share that of the config, so that they wait in lockstep: " +
		"leave Config.Seed empty, or give each session its own (session.Config.Seed)"}
}
