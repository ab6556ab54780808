package extract

import (
	"bytes"
	"crypto/sha256"

	"github.com/retake-go/retake/fault"
)

// object reads the members of n up to its closing brace.
func (r *reader) object(n int) bool {
	r.pos++
	return r.members(n, '}', (*reader).key)
}

// members reads names and values up to the closing bracket. name reads a name and its separator.
func (r *reader) members(n int, closer byte, name func(*reader) bool) bool {
	r.within++
	defer func() { r.within-- }()
	r.out = append(r.out, '{')
	var seen names
	last := 0
	for first := true; ; first = false {
		done, ok := r.item(closer, first)
		if done {
			r.out[len(r.out)-1] = '}'
		}
		if done || !ok {
			return ok
		}
		at, from := r.pos, len(r.out)
		if !name(r) {
			return false
		}
		r.at(n).argued = true
		if r.isNamed(&seen, span{int32(from), int32(len(r.out))}) {
			return r.fail(fault.RuleDuplicateKey, at)
		}
		r.out = append(r.out, ':')
		m, ok := r.value(n, last)
		if m != 0 {
			r.at(m).name = int32(from)
		}
		if !ok {
			return false
		}
		last = r.settled(m)
	}
}

// key reads the name of a member and its colon.
func (r *reader) key() bool {
	if !r.keyName() || !r.space() {
		return false
	}
	if r.peek() != ':' {
		return r.unexpected()
	}
	r.pos++
	return true
}

func (r *reader) keyName() bool {
	c := r.peek()
	switch {
	case c == '"' || c == '\'' || r.has(smartQuote):
		return r.string(c)
	case isNameStart(c):
		start := r.pos
		name := r.name()
		if constants[name] != "" || r.peek() == '(' {
			r.pos = start
			return r.unexpected()
		}
		if !isPlain(name) || r.odd == start { // the space may have been meant as part of the name
			return r.unfit(start)
		}
		r.repaired(formUnquotedKey, start)
		return r.quote(name, start)
	}
	return r.unexpected()
}

// span is a place in what was written, digest stands for the text there.
type (
	span   struct{ from, to int32 }
	digest [8]byte
)

// names are the names of an object's members: the places of a few, or the digests of all. Digests are small,
// and nobody can make names whose digests are slow to tell apart.
type names struct {
	count int
	few   [8]span
	all   map[digest]struct{}
}

// isNamed reports whether a name is among those that were seen, and adds it.
func (r *reader) isNamed(seen *names, at span) bool {
	name := r.out[at.from:at.to]
	if seen.count < len(seen.few) {
		for _, other := range seen.few[:seen.count] {
			if bytes.Equal(r.out[other.from:other.to], name) {
				return true
			}
		}
		seen.few[seen.count] = at
		seen.count++
		return false
	}
	if seen.all == nil {
		seen.all = map[digest]struct{}{}
		for _, other := range seen.few {
			seen.all[digestOf(r.out[other.from:other.to])] = struct{}{}
		}
	}
	before := len(seen.all)
	seen.all[digestOf(name)] = struct{}{}
	return len(seen.all) == before
}

func digestOf(name []byte) digest {
	sum := sha256.Sum256(name)
	return digest(sum[:len(digest{})])
}
