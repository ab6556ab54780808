package extract

import (
	"crypto/sha256"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// add adds a call to the run. It returns false if a form of the call is switched off. Beyond the bound, calls
// are only counted.
func (s *scanner) add(c Call) bool {
	container := s.container()
	if container != "" && (c.Form == formCallObject || c.Form == formCallList || c.Form == formToolCallsObject) {
		c.Form = container
	}
	if s.isOff(c, container) {
		return false
	}
	if s.over > 0 {
		s.over, s.end = s.over+1, c.End
		return true
	}
	if s.tag.kind != noMark {
		c.repaired(formTag, s.tag.start)
	}
	if s.fenced.kind != noMark {
		c.repaired(formFence, s.fenced.start)
	}
	s.refuse(&c)
	switch {
	case s.repeats(c):
		return true
	case len(s.run) == s.opt.MaxCalls:
		s.over = len(s.run) + 1
	default:
		s.run = append(s.run, c)
	}
	s.end = c.End
	return true
}

// repeats reports whether the run has an equal call, in any order of members. A call that a reply repeats is
// made once.
func (s *scanner) repeats(c Call) bool {
	if c.Broken != nil || len(s.run) == 0 {
		return false
	}
	if s.said == nil {
		s.said = map[said]struct{}{}
	}
	for ; s.keyed < len(s.run); s.keyed++ {
		if s.run[s.keyed].Broken == nil {
			s.said[s.run[s.keyed].said()] = struct{}{}
		}
	}
	_, again := s.said[c.said()]
	return again
}

// said is the same for equal calls.
type said struct {
	tool string
	args [sha256.Size]byte
}

func (c Call) said() said {
	args, err := canon.JSON(c.Arguments)
	if err != nil { // deeper than canonical JSON goes
		args = c.Arguments
	}
	return said{c.Name, sha256.Sum256(args)}
}

// container returns the form of the tag around.
func (s *scanner) container() Form {
	switch s.tag.kind {
	case callTag:
		return formToolTag
	case controlToken:
		return formSpecialToken
	}
	return ""
}

// isOff reports whether the form of c, or of something around it, is switched off.
func (s *scanner) isOff(c Call, container Form) bool {
	off := s.opt.isOff
	if off(c.Form) || container != "" && off(container) || s.tag.kind != noMark && off(formTag) ||
		s.fenced.kind != noMark && off(formFence) {
		return true
	}
	return slices.ContainsFunc(c.Repairs, func(r Repair) bool {
		return r.Kind.Around() && off(r.Kind)
	})
}

// refuse breaks a call if it needs a leniency that is switched off.
func (s *scanner) refuse(c *Call) {
	c.Repairs = sortRepairs(c.Repairs)
	for _, r := range c.Repairs {
		if c.Broken == nil && !r.Kind.Around() && s.opt.isOff(r.Kind) {
			c.Arguments, c.Broken = nil, &Broken{Rule: fault.RuleSyntax, Offset: r.Offset}
		}
	}
}

// finish adds the repairs for text around the run to each of its calls.
func (s *scanner) finish() (calls []Call, over int) {
	around := make([]Repair, 0, 2)
	for _, offset := range [...]int{s.before, s.after} {
		if offset >= 0 {
			around = append(around, Repair{Prose, offset})
		}
	}
	if len(around) > 0 && s.opt.isOff(Prose) {
		return nil, 0
	}
	if s.over > 0 {
		return nil, s.over
	}
	for i := range s.run {
		c := &s.run[i]
		c.Repairs = sortRepairs(append(c.Repairs, around...))
	}
	return s.run, 0
}
