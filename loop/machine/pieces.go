package machine

import "slices"

// The effects of a step and what they point to live and die together: each kind of step has them in one piece of memory, unless it is made
// in a [Room].

// callRoom is a call of the model; most are at one position.
type callRoom struct {
	ModelCall
	one [1]Position
}

// lone is the call that a step asks for that decides nothing.
type lone struct {
	effects [1]Effect
	callRoom
}

// judged is a decision, and the call that mostly follows it.
type judged struct {
	effects  [2]Effect
	decision Decision
	callRoom
}

// judgedEnd is the decision that ends a run, and its outcome.
type judgedEnd struct {
	effects  [2]Effect
	decision Decision
	outcome  Outcome
}

// judgedTry is a decision on a try, and the try that mostly follows it.
type judgedTry struct {
	effects  [2]Effect
	decision Decision
	try      TryRun
}

// loneTry is the try that a step asks for that decides nothing.
type loneTry struct {
	effects [1]Effect
	try     TryRun
}

// lists are those of the state that a charged failure changes, where they are of one action and one tool.
type lists struct {
	actions [1]Action
	spent   [1]ToolSpent
}

// run1 is a call of a tool that is alone in its reply.
type run1 struct {
	effects [1]Effect
	runs    [1]ToolRun
}

// goodCall is what a good call leaves that is alone in its reply: the state's action and its batch, and the effect that runs it.
type goodCall struct {
	actions [1]Action
	batchRoom
	run1
}

// expect makes room for what a reply leaves, where that is a good call.
func (s *step) expect(r *Reply) {
	if s.room == nil && len(r.Calls) == 1 && r.Calls[0].Class == "" && !s.Config.CallsOnly {
		s.goodCall = new(goodCall)
	}
}

// newLists returns room for the state's lists; that of what tools spent is nil where no failure is expected.
func (s *step) newLists() ([]Action, []ToolSpent) {
	if s.goodCall != nil {
		return s.goodCall.actions[:0], nil
	}
	own := new(lists)
	return own.actions[:0], own.spent[:0]
}

// newBatch returns room for a batch.
func (s *step) newBatch() *batchRoom {
	if s.goodCall != nil {
		s.goodCall.Calls = s.goodCall.one[:0]
		return &s.goodCall.batchRoom
	}
	return s.room.batch()
}

// newDecision returns room for a decision, which is zero.
func (s *step) newDecision() *Decision {
	switch r := s.decisionRoom; {
	case r != nil:
		s.decisionRoom = nil
		if s.room != nil {
			*r = Decision{}
		}
		return r
	case s.fx != nil:
		return new(Decision)
	case s.Config.Single:
		r := new(judgedTry)
		s.fx, s.tryRoom = r.effects[:0], &r.try
		return &r.decision
	}
	r := new(judged)
	s.fx, s.callRoom = r.effects[:0], &r.callRoom
	return &r.decision
}

// ending makes room for a decision and the outcome that follows it.
func (s *step) ending() {
	if s.fx == nil {
		r := new(judgedEnd)
		s.fx, s.decisionRoom, s.outcomeRoom = r.effects[:0], &r.decision, &r.outcome
	}
}

// newOutcome returns room for an outcome.
func (s *step) newOutcome() *Outcome {
	if r := s.outcomeRoom; r != nil {
		s.outcomeRoom = nil
		return r
	}
	return new(Outcome)
}

// newCall returns room for a call of the model.
func (s *step) newCall() *callRoom {
	if r := s.callRoom; r != nil {
		s.callRoom = nil
		return r
	}
	if s.fx != nil {
		return new(callRoom)
	}
	r := new(lone)
	s.fx = r.effects[:0]
	return &r.callRoom
}

// newModelCall returns a call of the model at positions that outlive the step.
func (s *step) newModelCall(at []Position) *ModelCall {
	if s.room != nil {
		s.room.call.At = s.room.told(at)
		return &s.room.call
	}
	call := s.newCall()
	if len(at) > 1 {
		call.At = slices.Clone(at)
	} else {
		call.one[0] = at[0]
		call.At = call.one[:]
	}
	return &call.ModelCall
}

// newTry returns room for a try.
func (s *step) newTry() *TryRun {
	if r := s.tryRoom; r != nil {
		s.tryRoom = nil
		return r
	}
	if s.fx != nil {
		return new(TryRun)
	}
	r := new(loneTry)
	s.fx = r.effects[:0]
	return &r.try
}

// newRuns returns room for so many runs of tools: never in a [Room], for a tool may outlive the run that called it.
func (s *step) newRuns(n int) []ToolRun {
	if n != 1 || s.fx != nil {
		return make([]ToolRun, 0, n)
	}
	if s.goodCall != nil {
		s.fx = s.goodCall.effects[:0]
		return s.goodCall.runs[:0]
	}
	r := new(run1)
	s.fx = r.effects[:0]
	return r.runs[:0]
}
