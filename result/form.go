package result

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
)

// Form names a wire form. The zero value is invalid.
type Form string

// The wire forms.
const (
	// ResultEnvelope is the result envelope, stateful or not: status, data or error, kebab-case
	// codes.
	ResultEnvelope Form = "result_envelope"
	// AgentResult is the agent result: output, content, usage, cost, error object, rate_limit, provider_data.
	AgentResult Form = "agent_result"
	// AgentResponse is the first form of agent errors: success, result or error, message, metadata.
	AgentResponse Form = "agent_response"
	// ModelResponse is the second form of agent errors: success, result or error, message, retryAfterMs.
	ModelResponse Form = "model_response"
)

// Forms returns the wire forms in a fixed order. The slice is the caller's own.
func Forms() []Form { return []Form{ResultEnvelope, AgentResult, AgentResponse, ModelResponse} }

// maxBytes is the longest document that is read.
const maxBytes = 16 << 20

// InvalidError says why a document or a Result is invalid. Safe for concurrent reading.
type InvalidError struct {
	// Form is the form that was read; empty where a Result in memory is at fault.
	Form Form
	// Issues says all that is wrong, each with its JSON Pointer, in canonical order. It is never empty.
	// Members of a document that contradict each other, and data that does not fit its Go type, are found
	// where each member is right by itself.
	Issues []fault.Issue
}

// Error lists the issues on one line.
func (e *InvalidError) Error() string {
	return cmp.Or(string(e.Form), "result") + ": " + several.Joined(e.Issues)
}

// ruled returns an issue that a rule of this package finds.
func ruled(pointer, rule, expected string) fault.Issue {
	return fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromRules}
}

// unstrict returns an issue of a text that is no strict JSON.
func unstrict(pointer, rule, expected string) fault.Issue {
	return fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromJSON}
}

// invalid returns nil where there are no issues.
func invalid(form Form, issues ...fault.Issue) error {
	if len(issues) == 0 {
		return nil
	}
	return &InvalidError{Form: form, Issues: fault.SortIssues(issues)}
}

// Encode writes a result in a form, as canonical JSON: the same result always gives the same bytes. An
// invalid result (an error without a class, a confidence of 2, data without a JSON form) is refused with an
// [*InvalidError].
func Encode[T any](form Form, r Result[T]) ([]byte, error) {
	spec, err := specOf(form)
	if err != nil {
		return nil, err
	}
	c, err := toCore(r)
	if err != nil {
		return nil, err
	}
	return rendered(spec.write(c)), nil
}

// Decode reads a document of a form. It accepts what systems emit: null for an absent member, a number for a
// cost or for its parts, digits in quotes for a status code, headers with lists as values. An invalid
// document (a confidence of 2, both data and error, an unknown status, duplicate names, more than 16 MiB)
// is refused with an [*InvalidError].
func Decode[T any](form Form, doc []byte) (Result[T], error) {
	spec, err := specOf(form)
	if err != nil {
		return Result[T]{}, err
	}
	members, err := parse(form, doc)
	if err != nil {
		return Result[T]{}, err
	}
	read, c := spec.read(members)
	if len(read.issues) > 0 {
		return Result[T]{}, invalid(form, read.issues...)
	}
	r, issues := fromCore[T](c, spec.dataPtr(members))
	return r, invalid(form, issues...)
}

// strictly says what would be right where a text is no strict JSON; # is the byte where it is none.
var strictly = map[canon.Rule]string{
	canon.DuplicateKey: "a member of this name once",
	canon.Depth: fmt.Sprintf(
		"at most %d levels, one within the other; that at byte # is deeper", canon.MaxDepth),
	canon.InvalidUTF8:  "UTF-8, which byte # is not",
	canon.TrailingData: "nothing after the JSON, which ends before byte #",
}

// parse takes one strict JSON object.
func parse(form Form, doc []byte) (document, error) {
	if len(doc) > maxBytes {
		return nil, invalid(form, unstrict("", fault.RuleSize, "at most 16 MiB"))
	}
	raw, err := canon.JSON(doc)
	if err != nil {
		i := unstrict("", fault.RuleSyntax, "strict JSON")
		if at := new(canon.Error); errors.As(err, &at) {
			right := cmp.Or(strictly[at.Rule], "strict JSON, which this is not from byte # on")
			i.Rule, i.Pointer = string(at.Rule), at.Pointer
			i.Expected = strings.ReplaceAll(right, "#", strconv.Itoa(at.Offset))
		}
		return nil, invalid(form, i)
	}
	members := opened(raw)
	if members == nil {
		return nil, invalid(form, wrong("", raw, "type", "object"))
	}
	return members, nil
}
