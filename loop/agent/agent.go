package agent

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/schema"
)

// The classes of a success that does not meet the criteria of an [Agent].
const (
	// LowConfidence: the confidence is known and below [Agent].MinConfidence.
	LowConfidence fault.Class = "low_confidence"
	// NotAccepted: the data does not match [Agent].Accept.
	NotAccepted fault.Class = "not_accepted"
)

// Agent is the policy and the criteria of a whole agent, for [Retry]. It is plain data. Make one with [New]
// and change its fields before the first use; it may then be shared.
type Agent struct {
	// Action has the policy in its Transport, because for an orchestrator a failed run is a request to be
	// made again. Its Policy is not used.
	loop.Action
	// MinConfidence is the lowest accepted confidence, from 0, which accepts all, to 1. A success with a
	// known, lower confidence is a failed attempt of class [LowConfidence].
	MinConfidence float64
	// Accept is a schema for the data of a success; data that does not match is a failed attempt of class
	// [NotAccepted]. Nil accepts all.
	Accept *schema.Schema
}

// New returns an agent with the preset result-envelope. It also retries successes that do not meet the
// criteria, without a wait.
func New(name string) *Agent {
	a := &Agent{Action: *loop.ToolCall(name)}
	a.Transport, _ = policy.Preset("result-envelope")
	a.Transport.RetryableErrors = append(a.Transport.RetryableErrors, LowConfidence, NotAccepted)
	a.Transport.Bases[LowConfidence], a.Transport.Bases[NotAccepted] = 0, 0
	return a
}

// check reports everything that is wrong with the agent, joined. It returns nil if it is valid.
func (a *Agent) check() error {
	if a == nil {
		return errors.New("the agent is nil: make one with New")
	}
	var confidence error
	if !(a.MinConfidence >= 0 && a.MinConfidence <= 1) {
		confidence = fmt.Errorf("min_confidence: %v is not a confidence; write 0 to 1", a.MinConfidence)
	}
	_, err := a.Machine()
	return errors.Join(confidence, err)
}

// runError is a failed result as the error of a try.
type runError struct {
	failure fault.Failure
	// why says what is wrong with a success.
	why string
}

func (e *runError) Error() string { return e.why }

func (e *runError) Failure() fault.Failure { return e.failure }

// judge returns the error of a result; nil for an accepted success and for work in progress.
func judge[T any](a *Agent, r result.Result[T]) error {
	switch {
	case r.IsError():
		return &runError{failureOfResult(r), r.Error.Message}
	case r.IsInProgress():
		return nil
	case !r.IsSuccess():
		return &runError{fault.Failure{Plane: fault.Transport, Class: fault.InvalidResponse, Final: true},
			"the agent returned no result"}
	case r.Below(a.MinConfidence):
		why := "confidence " + decimal(*r.Confidence) + " is below " + decimal(a.MinConfidence)
		return &runError{fault.Failure{Plane: fault.Transport, Class: LowConfidence, Message: why}, why}
	}
	if a.Accept == nil {
		return nil
	}
	doc, err := canon.Marshal(r.Data)
	if err != nil {
		return &runError{fault.Failure{Plane: fault.Transport, Class: NotAccepted},
			"the data has no JSON form"}
	}
	if issues := a.Accept.Check(doc); len(issues) > 0 {
		return &runError{fault.Failure{Plane: fault.Transport, Class: NotAccepted, Issues: issues},
			"not accepted: " + issues[0].String()}
	}
	return nil
}

// failureOfResult returns a failed result as a failure. If the agent says that it is not retryable although
// its class usually is, the failure is final; otherwise the policy decides.
func failureOfResult[T any](r result.Result[T]) fault.Failure {
	wait, _ := r.RateLimit.Delay()
	own := r.Error.Retryable
	return fault.Failure{
		Plane: fault.Transport, Class: r.Error.Class, Message: r.Error.Message,
		RetryAfter: max(wait, 0),
		Final:      r.Error.Class.Transient() && own != nil && !*own,
	}
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
