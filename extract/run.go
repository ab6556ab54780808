package extract

import (
	"slices"

	"github.com/retake-go/retake/internal/canon"
)

// add adds a call to the run. It returns false if a form of the call is switched off.
func (s *scanner) add(c Call) bool {
	if s.tag.kind != noMark {
		c.Repairs = append(c.Repairs, Repair{Tag, s.tag.start})
	}
	container := s.container()
	if container != "" && (c.Form == CallObject || c.Form == CallList || c.Form == ToolCallsObject) {
		c.Form = container
	}
	if s.fenced.kind != noMark {
		c.Repairs = append(c.Repairs, Repair{Fence, s.fenced.start})
	}
	if s.isOff(c, container) {
		return false
	}
	s.refuse(&c)
	if !s.repeats(c) {
		s.run = append(s.run, c)
	}
	return true
}

// repeats reports whether the run has an equal call, in any order of members. A call that a reply repeats is
// made once.
func (s *scanner) repeats(c Call) bool {
	if c.Broken != nil || len(s.run) == 0 {
		return false
	}
	if s.said == nil {
		s.said = map[string]struct{}{}
	}
	for ; s.keyed < len(s.run); s.keyed++ {
		if s.run[s.keyed].Broken == nil {
			s.said[s.run[s.keyed].key()] = struct{}{}
		}
	}
	_, again := s.said[c.key()]
	return again
}

// key is the same for equal calls.
func (c Call) key() string {
	args, err := canon.JSON(c.Arguments)
	if err != nil { // deeper than canonical JSON goes
		args = c.Arguments
	}
	return c.Name + "\x00" + string(args)
}

// container is the form of the tag around.
func (s *scanner) container() Form {
	switch s.tag.kind {
	case callTag:
		return ToolTag
	case controlToken:
		return SpecialToken
	}
	return ""
}

// isOff reports whether the form of c, or of something around it, is switched off.
func (s *scanner) isOff(c Call, container Form) bool {
	if s.opt.isOff(c.Form) || container != "" && s.opt.isOff(container) {
		return true
	}
	return slices.ContainsFunc(c.Repairs, func(r Repair) bool {
		return r.Kind.Around() && s.opt.isOff(Form(r.Kind))
	})
}

// refuse breaks a call if it needs a leniency that is switched off.
func (s *scanner) refuse(c *Call) {
	c.Repairs = sortRepairs(c.Repairs)
	for _, r := range c.Repairs {
		if c.Broken == nil && !r.Kind.Around() && s.opt.isOff(Form(r.Kind)) {
			c.Arguments, c.Broken = nil, &Broken{Rule: RuleSyntax, Offset: r.Offset}
		}
	}
}

// finish adds the repairs for text around the run to each of its calls.
func (s *scanner) finish() []Call {
	around := make([]Repair, 0, 2)
	for _, offset := range [...]int{s.before, s.after} {
		if offset >= 0 {
			around = append(around, Repair{Prose, offset})
		}
	}
	if len(around) > 0 && s.opt.isOff(Form(Prose)) {
		return nil
	}
	for i := range s.run {
		c := &s.run[i]
		c.Repairs = sortRepairs(append(c.Repairs, around...))
	}
	return s.run
}
