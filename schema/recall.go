package schema

import (
	"slices"
	"strings"
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
	misfitMultiple
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
		failed((&numberTests{above: t.above}).judge(v), misfitAbove) | failed((&numberTests{below: t.below}).judge(v), misfitBelow) |
		failed(t.of.holds(v), misfitMultiple)
}

func failed(told verdict, why misfit) misfit {
	if told == good {
		return misfitNone
	}
	return why
}

// recalled is what the library said of a misfit.
type recalled struct {
	why misfit
	// issues have pointers that begin at the value; told are they as they were told at one place: that of the first misfit.
	issues, told []fault.Issue
	place        string
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
		if f.bare || !f.isAt(r.place) {
			f.retell(r.issues)
			return true
		}
		for _, i := range r.told {
			f.tell(i)
		}
		return true
	}
	return false
}

// retell tells issues whose pointers begin at the place of the walk.
func (f *findings) retell(issues []fault.Issue) {
	at, mark := pointerOf(f.place()), len(f.issues)
	for _, i := range issues {
		i.Pointer = at + i.Pointer
		f.tell(i)
	}
	f.tellOptional(mark)
}

// tellOptional adds to the issues from mark on what may be left out.
func (f *findings) tellOptional(mark int) {
	if !f.bare {
		f.schema.tellOptional(f.issues[mark:])
	}
}

// isAt reports whether the walk is at a place. Of names that a pointer escapes it is not sure.
func (f *findings) isAt(place string) bool {
	legs := f.legs()
	for n := range legs {
		tok := legs[n].token(f.text)
		rest, ok := strings.CutPrefix(place, "/")
		if !ok || !strings.HasPrefix(rest, tok) || strings.ContainsAny(tok, "~/") {
			return false
		}
		place = rest[len(tok):]
	}
	return place == ""
}

// maxKept bounds the place that is kept with a misfit: its names are those of a document, which may be as long as they like.
const maxKept = 256

// settle adds to the issues from mark on what may be left out, and keeps what the library has said of a misfit.
func (f *findings) settle(n *node, why misfit, mark int) {
	fresh, place := f.issues[mark:], ""
	keeps := n.said != nil && !f.schema.echo && why>>8 != 0
	if keeps {
		place = pointerOf(f.place())
	}
	if !keeps || f.bare || len(place) > maxKept {
		f.tellOptional(mark)
		return
	}
	issues := slices.Clone(fresh)
	for i := range issues {
		issues[i].Pointer = issues[i].Pointer[len(place):]
	}
	f.schema.tellOptional(fresh)
	all := append(slices.Clip(slices.Clone(n.kept())), recalled{why, issues, slices.Clone(fresh), place})
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
