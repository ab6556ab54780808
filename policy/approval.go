package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fields"
)

// Approval says which calls of a tool wait until a person approves them, for how long, and what holds if
// nobody answers. A call that its tool itself wants approved
// ([github.com/retake-go/retake/tool.NeedsApproval]) waits under every setting but [ApproveNever].
//
// A member that is empty or 0 is absent: it has the value of the layer below, and in the end that of
// [Approval.Whole]. In files the word of When may stand for all of it: "approval: always".
type Approval struct {
	// When (when) says which calls need approval; [ApproveDeclared] if absent.
	When ApprovalRule `policy:"when,words=declared|never|always|undeclared|first|above"`
	// Argument (argument) is the argument whose value counts for [ApproveAbove]: the name of a top-level
	// member, or a JSON Pointer, such as "/amount/value". Above (above) is the largest value that needs no
	// approval; at least 0. A value that is missing, is no number or has more than nine decimals needs it,
	// and so does a call with another spelling of the name ("AMOUNT"), which some decoders take for the same.
	Argument string           `policy:"argument,each=argument"`
	Above    *backoff.Decimal `policy:"above"`
	// Timeout (timeout) is how long a question stays open: more than 0, or [Unlimited], the default. No
	// question is open longer than its run may take.
	Timeout time.Duration `policy:"timeout,absent,unlimited,positive"`
	// Default (default) decides if nobody has answered by then; [DefaultRefuse] if absent.
	Default ApprovalDefault `policy:"default,words=refuse|approve"`
	// InDoubt (in_doubt) is what happens after a call whose effect is unknown; [DoubtTell] if absent.
	InDoubt DoubtRule `policy:"in_doubt,words=tell|ask"`
	// Exhausted (exhausted) is what follows where the attempts are used up and no planner says otherwise;
	// [ExhaustedEnds] if absent. It cannot be set for the final answer alone.
	Exhausted ExhaustionRule `policy:"exhausted,words=end|ask"`
}

// ApprovalRule says which calls of a tool need approval.
type ApprovalRule string

// The rules.
const (
	// ApproveDeclared: those that the tool itself wants approved. It is the default.
	ApproveDeclared ApprovalRule = "declared"
	// ApproveNever: none.
	ApproveNever ApprovalRule = "never"
	// ApproveAlways: all.
	ApproveAlways ApprovalRule = "always"
	// ApproveUndeclared: those of tools that are declared neither read-only nor idempotent.
	ApproveUndeclared ApprovalRule = "undeclared"
	// ApproveFirst: those of a tool of which a person has approved no call in the session yet.
	ApproveFirst ApprovalRule = "first"
	// ApproveAbove: those with a value above a bound.
	ApproveAbove ApprovalRule = "above"
)

// ApprovalDefault decides on a call if nobody has answered in time.
type ApprovalDefault string

// The defaults.
const (
	DefaultRefuse  ApprovalDefault = "refuse"
	DefaultApprove ApprovalDefault = "approve"
)

// DoubtRule is what happens after a call that may have had an unknown effect.
type DoubtRule string

// The rules for calls in doubt.
const (
	// DoubtTell tells the model that the effect is unknown.
	DoubtTell DoubtRule = "tell"
	// DoubtAsk asks a person what has happened. If nobody answers in time, the model is told.
	DoubtAsk DoubtRule = "ask"
)

// ExhaustionRule is what follows where a tool or the answer has no attempt left.
type ExhaustionRule string

// The rules for exhaustions.
const (
	// ExhaustedEnds ends the run.
	ExhaustedEnds ExhaustionRule = "end"
	// ExhaustedAsk asks a person what is to follow. If nobody answers in time, the run ends.
	ExhaustedAsk ExhaustionRule = "ask"
)

// Whole returns a with the default of each absent member.
func (a Approval) Whole() Approval {
	return a.over(Approval{When: ApproveDeclared, Timeout: Unlimited, Default: DefaultRefuse, InDoubt: DoubtTell,
		Exhausted: ExhaustedEnds})
}

// over returns a with the members of below where a has none.
func (a Approval) over(below Approval) Approval {
	return Approval{
		When: cmp.Or(a.When, below.When), Argument: cmp.Or(a.Argument, below.Argument),
		Above: cmp.Or(a.Above, below.Above), Timeout: cmp.Or(a.Timeout, below.Timeout),
		Default: cmp.Or(a.Default, below.Default), InDoubt: cmp.Or(a.InDoubt, below.InDoubt),
		Exhausted: cmp.Or(a.Exhausted, below.Exhausted),
	}
}

// Exceeds reports whether arguments, as JSON, have a value above the bound, or none that can be compared.
func (a Approval) Exceeds(arguments []byte) bool {
	pointer := jsontext.Pointer(a.Argument)
	if !strings.HasPrefix(a.Argument, "/") {
		pointer = jsontext.Pointer("").AppendToken(a.Argument)
	}
	value := json.RawMessage(arguments)
	for token := range pointer.Tokens() {
		var members map[string]json.RawMessage
		if canon.Unmarshal(value, &members) != nil {
			return true
		}
		for _, name := range canon.Keys(members) {
			if name != token && strings.EqualFold(name, token) { // encoding/json may read this one
				return true
			}
		}
		value = members[token]
	}
	if bytes.HasPrefix(value, []byte("-")) {
		return false // valid JSON, so a number
	}
	n, err := backoff.ParseDecimal(string(value))
	return err != nil || a.Above == nil || n > *a.Above
}

// ApprovalCall is what the rules for approval look at in a call. Declared: the tool itself wants it approved.
// Repeatable: the tool is declared read-only or idempotent. Approved: a person has approved a call of the
// tool in the session. Exceeds: a value is above the bound (see [Approval.Exceeds]).
type ApprovalCall struct{ Declared, Repeatable, Approved, Exceeds bool }

// Needs returns the rule by which a call needs approval; empty if it needs none.
func (a Approval) Needs(c ApprovalCall) ApprovalRule {
	switch w := a.When; {
	case w == ApproveNever:
		return ""
	case w == ApproveAlways, w == ApproveUndeclared && !c.Repeatable, w == ApproveFirst && !c.Approved,
		w == ApproveAbove && c.Exceeds:
		return w
	case c.Declared:
		return ApproveDeclared
	}
	return ""
}

// check reports what is wrong with a alone.
func (a *Approval) check(f fields.Faults) {
	if strings.HasPrefix(a.Argument, "/") && !jsontext.Pointer(a.Argument).IsValid() {
		f.At("argument").Add("%s is no JSON Pointer; write one such as /amount/value", fields.Quoted(a.Argument))
	}
}

// incomplete says what a rule for values lacks once all layers are merged, or nothing.
func (a *Approval) incomplete() (member, problem string) {
	switch {
	case a.When != ApproveAbove:
	case a.Argument == "":
		return "argument", "is missing; name the argument whose value counts"
	case a.Above == nil:
		return "above", "is missing; write the largest value that needs no approval"
	}
	return "", ""
}

// String returns a as in policy files: "{when: always, timeout: 24h0m0s}"; "by declaration" if all members
// are absent.
func (a Approval) String() string { return cmp.Or(shown(&a), "by declaration") }

// MarshalJSON writes the members that are not absent.
func (a Approval) MarshalJSON() ([]byte, error) { return fields.JSON(&a, nil) }

// UnmarshalJSON replaces a with a mapping of members, or with a rule alone.
func (a *Approval) UnmarshalJSON(data []byte) error {
	var read Approval
	f := fields.Collect()
	if v := jsontext.Value(data); v.Kind() == '"' {
		var rule string
		fields.Word(v, &rule, ruleWords, f)
		read.When = ApprovalRule(rule)
	} else {
		fields.Read(data, &read, f)
	}
	if f.Found() > 0 {
		f.Besides(func(f fields.Faults) {
			checks.Check(&read, f)
			read.check(f)
		})
		return fields.Err[FieldError](f)
	}
	*a = read
	return nil
}

// ruleWords are the rules, as in files.
var ruleWords = []string{string(ApproveDeclared), string(ApproveNever), string(ApproveAlways),
	string(ApproveUndeclared), string(ApproveFirst), string(ApproveAbove)}
