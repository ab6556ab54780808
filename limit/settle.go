package limit

import "slices"

// settle learns from how calls ended, and frees what they held.
func (s *step) settle(ev *Event) {
	o, out := s.Out[ev.ID]
	granted := o.At
	if !out { // lost and found, or of another limiter: it still says what it says
		granted = s.Now
	}
	if s.Config.Shared { // the limiter above hears of it, and knows more
		if ev.Outcome == Down || ev.Outcome == Refused {
			s.giveBack()
		}
		if ev.Outcome == Refused {
			s.Cut = s.Now
		}
	} else {
		s.hear(ev, out, granted, &o)
	}
	if out {
		s.free(ev, o)
	}
}

// hear learns what the end of calls says of limits and outages.
func (s *step) hear(ev *Event, out bool, granted int64, o *outstanding) {
	taught := ev.Limits != nil && ev.Outcome != Unused && s.learn(ev.Limits, out, o.Given)
	if ev.Outcome != Served {
		s.Accepted -= min(bound(ev.Calls, 1), s.Accepted)
	}
	switch {
	case s.Open && out && !o.Retry && ev.Outcome != Served: // every session may meet that once, whatever its pace
	case ev.Outcome == Served:
		s.accepted(granted)
		s.served(ev.ID, granted)
	case ev.Outcome == Refused:
		if granted >= s.From { // nobody held the others back
			s.Budget = max(s.Budget-milli, 0)
		}
		s.refused(granted, ev.Limits, taught)
		s.probed(ev.ID, o)
	case ev.Outcome == Down:
		s.Budget = max(s.Budget-milli, 0)
		s.down(granted)
		s.probed(ev.ID, o)
	case ev.Outcome == Unused:
		s.probed(ev.ID, o)
	}
}

// free ends calls that are out. What they used beyond their estimate is taken from the windows now; what they
// used less than it teaches how much to reserve.
func (s *step) free(ev *Event, o outstanding) {
	n := min(bound(ev.Calls, 1), o.Calls)
	if used := bound(ev.Tokens, 0); used > 0 && ev.Outcome == Served {
		s.used(n, used, o)
	}
	s.InFlight, s.Reserved = s.InFlight-n, s.Reserved-n*o.Tokens
	if o.Calls -= n; o.Calls > 0 {
		s.Out[ev.ID] = o
		return
	}
	delete(s.Out, ev.ID)
	if len(s.Order) > 2*len(s.Out)+16 {
		s.Order = slices.DeleteFunc(s.Order, func(id int64) bool { _, out := s.Out[id]; return !out })
	}
}

// used learns how much of an estimate is used.
func (s *step) used(calls, used int64, o outstanding) {
	for k := range s.Quotas {
		if q := &s.Quotas[k]; q.Resource != "requests" {
			q.Left += calls * (o.Tokens - used)
		}
	}
	for k := range s.Windows {
		w := &s.Windows[k]
		if w.Resource == "requests" {
			continue
		}
		w.add(o.At, w.Period, calls*(used-o.Tokens))
		if used > o.Estimate {
			w.Next += min(calls*s.cost(w, used-o.Estimate), int64(maxTime))
		}
	}
	if o.Estimate > 0 {
		part := min(scaled(used, whole, o.Estimate), 8*whole)
		s.Usage = max(s.Usage+(part-s.Usage)/8, 1)
	}
}

// served ends an outage if the call was made after it began. A limit that is known is kept at once then.
func (s *step) served(id, granted int64) {
	s.Budget = min(s.Budget+retryShare, fullBudget)
	if b := &s.Breaker; !b.Open || b.Probe == id || granted > b.Since {
		if b.Failed = 0; b.Open {
			*b = Breaker{Closed: s.Now}
			s.Budget, s.Accepted, s.AcceptedFrom = fullBudget, 0, s.Now // the breaker has dealt with what failed
			if s.ceiling() == 0 {
				s.ramp()
			}
		}
	}
}

// down counts calls that found the provider down. Those that were granted before the last outage ended say
// nothing new.
func (s *step) down(granted int64) {
	b := &s.Breaker
	if b.Open || granted <= b.Closed && b.Closed > 0 {
		return
	}
	if b.Failed++; b.Failed >= s.Config.Failures {
		*b = Breaker{Open: true, Since: s.Now, Next: s.Now + int64(s.Config.ProbeEvery)}
		if s.Open { // it comes back to the pace that it had
			s.Pace = max(s.Pace, s.lastSecond()*milli)
			s.close()
		}
	}
}

// probed ends a probe that did not show that the provider is back. It took nothing from windows that are not
// known yet.
func (s *step) probed(id int64, o *outstanding) {
	if s.Breaker.Open && s.Breaker.Probe == id {
		s.Breaker.Probe, s.Breaker.Lost = 0, 0
		s.Given = s.Given.plus(-o.Calls, o.Tokens)
	}
}

// expire frees the calls that are lost, because nobody settled them in time.
func (s *step) expire() {
	if b := &s.Breaker; b.Probe != 0 && s.Now >= b.Lost {
		b.Probe, b.Lost = 0, 0
	}
	for len(s.Order) > 0 {
		o, out := s.Out[s.Order[0]]
		if out && s.Now < o.Lost {
			return
		}
		if out {
			s.InFlight, s.Reserved = s.InFlight-o.Calls, s.Reserved-o.Calls*o.Tokens
			delete(s.Out, s.Order[0])
		}
		if len(s.Order) == 1 {
			s.Order = s.Order[:0]
		} else {
			s.Order = s.Order[1:]
		}
	}
}
