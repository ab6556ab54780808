package agent

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/schema"
)

// The classes of a success that an [Agent]'s criteria do not accept.
const (
	// LowConfidence: the confidence is known, and below [Agent].MinConfidence.
	LowConfidence fault.Class = "low_confidence"
	// NotAccepted: the data is not what [Agent].Accept asks for.
	NotAccepted fault.Class = "not_accepted"
)

// Agent is what the runs of a whole agent are held to, for [Retry]: plain data. Make one with [New], change
// its fields before its first use, and share it as you like: it is not changed.
type Agent struct {
	// Action has the policy in its Transport: to an orchestrator every failed run is one that may be made
	// again as it was. Its Policy plays no part.
	loop.Action
	// MinConfidence is when to stop: a success whose confidence is known and less is a failed attempt of
	// class [LowConfidence]. From 0, which accepts all, to 1.
	MinConfidence float64
	// Accept is a schema that the data of a success must meet, else it is a failed attempt of class
	// [NotAccepted]; nil accepts all.
	Accept *schema.Schema
}

// New returns an agent under the preset result-envelope, which also retries
// successes that the criteria do not accept, at once.
func New(name string) *Agent {
	a := &Agent{Action: *loop.ToolCall(name)}
	a.Transport, _ = policy.Preset("result-envelope")
	a.Transport.RetryableErrors = append(a.Transport.RetryableErrors, LowConfidence, NotAccepted)
	a.Transport.Bases[LowConfidence], a.Transport.Bases[NotAccepted] = 0, 0
	return a
}

// Validate reports all that is wrong with the agent, joined; nil when nothing is.
func (a *Agent) Validate() error {
	if a == nil {
		return errors.New("the agent is nil: make one with New")
	}
	var confidence error
	if !(a.MinConfidence >= 0 && a.MinConfidence <= 1) {
		confidence = fmt.Errorf("min_confidence: %v is no confidence; write 0 to 1", a.MinConfidence)
	}
	_, err := a.Machine()
	return errors.Join(confidence, err)
}

// runError is a result as the error of a try.
type runError struct {
	failure fault.Failure
	// why says of a success what is wrong with it.
	why string
}

func (e *runError) Error() string { return e.why }

func (e *runError) Failure() fault.Failure { return e.failure }

// judge is the error that a result amounts to; nil for a success that is accepted, and for work in progress.
func judge[T any](a *Agent, r result.Result[T]) error {
	switch {
	case r.IsError():
		return &runError{failureOfResult(r), r.Error.Message}
	case r.IsInProgress():
		return nil
	case !r.IsSuccess():
		return &runError{fault.Failure{Plane: fault.Transport, Class: fault.InvalidResponse}, "the agent returned no result"}
	case r.Below(a.MinConfidence):
		why := "confidence " + decimal(r.Confidence.Value) + " is below " + decimal(a.MinConfidence)
		return &runError{fault.Failure{Plane: fault.Transport, Class: LowConfidence, Message: why}, why}
	}
	if a.Accept == nil {
		return nil
	}
	doc, err := canon.Marshal(r.Data)
	if err != nil {
		return &runError{fault.Failure{Plane: fault.Transport, Class: NotAccepted}, "the data has no JSON form"}
	}
	if issues := a.Accept.Check(doc); len(issues) > 0 {
		return &runError{fault.Failure{Plane: fault.Transport, Class: NotAccepted, Issues: issues}, "not accepted: " + issues[0].String()}
	}
	return nil
}

// failureOfResult is a failed result as the core sees it. What the agent says of retrying counts where it
// takes back what its class says; else the policy decides.
func failureOfResult[T any](r result.Result[T]) fault.Failure {
	wait, _ := r.RateLimit.Delay()
	return fault.Failure{
		Plane: fault.Transport, Class: r.Error.Class, Message: r.Error.Message,
		RetryAfter: max(wait, 0),
		Final:      r.Error.Class.Retryable() && !r.Error.Retryable.Or(true),
	}
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// stamped fills in when a result was begun and how long it took, where it does not say so itself.
func stamped[T any](r result.Result[T], start, end time.Time) result.Result[T] {
	if r.Execution.Duration == 0 {
		r.Execution.Duration = max(end.Sub(start), 0)
	}
	if r.Execution.Timestamp == "" {
		r.Execution.Timestamp = start.UTC().Format(time.RFC3339Nano)
	}
	return r
}
