package schema

import (
	"slices"
	"sync/atomic"

	"github.com/retake-go/retake/fault"
)

// What the library says of a value that a node refuses is mostly the same every time: it follows from the kind of the value and
// from the tests that it fails. So it is asked once, and its answer is kept with the node.

// misfit is why a node refuses something: the tests that fail, and the kind of the value. None is a reason that differs from value
// to value, and is not kept.
type misfit uint32

const (
	misfitMin misfit = 1 << (iota + 8) // the lowest eight bits are the kind
	misfitMax
	misfitPattern
	misfitAbove
	misfitBelow
	misfitKind
	misfitValue
	misfitUnknown        // a member that is not allowed
	misfitAbsent         // a member that is missing: its place is in the lowest eight bits
	misfitNone    misfit = 0
)

// misfit is why the node refuses a scalar. The library looks no further than a wrong kind or a value that is not among those listed;
// of all else it says everything.
func (n *node) misfit(v *scalar) misfit {
	kind := misfit(v.kind)
	switch {
	case n.never || !n.allows(v.kind):
		return misfitKind | kind
	case n.values != nil && n.values.judge(v) == bad:
		return misfitValue | kind
	case n.format != nil || n.more != nil:
		return misfitNone
	case n.text != nil && v.kind == kindString:
		return n.text.misfit(v.text) | kind
	case n.number != nil && v.kind&kindNumber != 0:
		return n.number.misfit(v) | kind
	}
	return misfitNone
}

func (t *textTests) misfit(s string) misfit {
	length := textTests{min: t.min, max: -1}
	return failed(length.judge(s), misfitMin) |
		failed((&textTests{max: t.max}).judge(s), misfitMax) |
		failed((&textTests{max: -1, charset: t.charset, pattern: t.pattern}).judge(s), misfitPattern)
}

func (t *numberTests) misfit(v *scalar) misfit {
	return failed((&numberTests{min: t.min}).judge(v), misfitMin) | failed((&numberTests{max: t.max}).judge(v), misfitMax) |
		failed((&numberTests{above: t.above}).judge(v), misfitAbove) | failed((&numberTests{below: t.below}).judge(v), misfitBelow)
}

func failed(told verdict, why misfit) misfit {
	if told == good {
		return misfitNone
	}
	return why
}

// recalled is what the library said of a misfit. Its pointers begin at the value.
type recalled struct {
	why    misfit
	issues []fault.Issue
}

// recall tells once more what was said of a misfit of the node at the place of the walk; false where nothing was yet. Where values
// may be echoed, issues have more in them than can be kept.
func (f *findings) recall(n *node, why misfit) bool {
	if f.schema.echo || why>>8 == 0 {
		return false
	}
	for _, r := range n.kept() {
		if r.why != why {
			continue
		}
		at := pointerOf(f.path)
		for _, i := range r.issues {
			i.Pointer = at + i.Pointer
			f.issues = append(f.issues, i)
		}
		f.lost = f.lost || len(f.issues) > maxIssues
		return true
	}
	return false
}

// remember keeps what the library has just said of a misfit: the issues from mark on.
func (f *findings) remember(n *node, why misfit, mark int) {
	if n.said == nil || f.schema.echo || why>>8 == 0 {
		return
	}
	issues, at := slices.Clone(f.issues[mark:]), len(pointerOf(f.path))
	for i := range issues {
		issues[i].Pointer = issues[i].Pointer[at:]
	}
	all := append(slices.Clip(slices.Clone(n.kept())), recalled{why, issues})
	n.said.Store(&all)
}

// kept is what is kept with the node. Two that remember at the same time may forget what the other did: it is asked again.
func (n *node) kept() []recalled {
	if n.said == nil {
		return nil
	}
	if all := n.said.Load(); all != nil {
		return *all
	}
	return nil
}

func newSaid() *atomic.Pointer[[]recalled] { return &atomic.Pointer[[]recalled]{} }
