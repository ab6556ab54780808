package result

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/httphint"
)

// core is a Result whose data is canonical JSON, nil for none.
type core Result[json.RawMessage]

// toCore checks a result. It does not change the argument, and shares no memory with it that is changed
// later.
func toCore[T any](r Result[T]) (*core, error) {
	c := &core{Status: r.Status, Error: r.Error, Meta: r.Meta}
	issues := c.canonical()
	if raw, ok := any(r.Data).(json.RawMessage); r.Status == StatusSuccess && !(ok && raw == nil) {
		data, err := canon.Marshal(r.Data)
		if err != nil {
			issues = append(issues, ruled("/data", "type", "data that has a JSON form"))
		}
		c.Data = data
	}
	if r.Status != StatusSuccess && !reflect.ValueOf(&r.Data).Elem().IsZero() {
		issues = append(issues, misplaced("/data", "success"))
	}
	return c, invalid("", append(issues, c.issues()...)...)
}

// canonical brings the JSON of users into canonical form.
func (c *core) canonical() []fault.Issue {
	var issues []fault.Issue
	canonical := func(pointer string, v json.RawMessage) json.RawMessage {
		if v == nil {
			return nil
		}
		good, err := canon.JSON(v)
		if err != nil {
			issues = append(issues, unstrict(pointer, fault.RuleSyntax, "strict JSON"))
		}
		return good
	}
	c.Metadata = canonical("/metadata", c.Metadata)
	c.Error.Original = canonical("/error/original", c.Error.Original)
	given := c.Extra
	c.Extra = nil
	for _, form := range canon.Keys(given) {
		for _, pointer := range canon.Keys(given[form]) {
			if v := canonical("/extra", given[form][pointer]); v != nil {
				c.Extra.keep(form, pointer, v)
			}
		}
	}
	return issues
}

func fromCore[T any](c *core, dataPtr string) (Result[T], []fault.Issue) {
	r := Result[T]{Status: c.Status, Error: c.Error, Meta: c.Meta}
	if c.Data == nil {
		return r, nil
	}
	if err := canon.Unmarshal(c.Data, &r.Data); err != nil {
		return Result[T]{}, []fault.Issue{misfit(dataPtr, c.Data, err)}
	}
	return r, nil
}

// misfit returns the issue of JSON that does not fit a Go type.
func misfit(pointer string, v json.RawMessage, err error) fault.Issue {
	i := ruled(pointer, "type", "JSON that fits its Go type")
	var at *canon.Error
	if !errors.As(err, &at) {
		return i
	}
	i.Pointer += at.Pointer
	if at.GoType != nil {
		i.Expected = "JSON that fits Go type " + at.GoType.String()
	}
	i.Got = kindOf(valueAt(parsed(v), at.Pointer))
	return i
}

// keep stores a member that Result has no field for. It leaves out secrets, and members without a pointer.
func (e *Extra) keep(form Form, pointer string, v json.RawMessage) {
	if v = scrubAt(pointer, v); v == nil {
		return
	}
	if *e == nil {
		*e = Extra{}
	}
	if (*e)[form] == nil {
		(*e)[form] = map[string]json.RawMessage{}
	}
	(*e)[form][pointer] = v
}

// said returns the message of an error, or of any other result.
func (c *core) said() *string {
	if c.Status == StatusError {
		return &c.Error.Message
	}
	return &c.Message
}

// scrubAt is scrub for the value at a pointer; nil without a pointer. Values below a secret member are
// secret, too.
func scrubAt(pointer string, v json.RawMessage) json.RawMessage {
	path := steps(pointer)
	if len(path) == 0 {
		return nil
	}
	for _, name := range path {
		if slices.Contains(secretMembers, httphint.Squash(name)) {
			return nil
		}
	}
	return scrub(path[len(path)-1], v)
}

// clone returns a copy whose fields can be set without changing the original.
func (c *core) clone() *core {
	other := *c
	other.Extra = maps.Clone(c.Extra)
	return &other
}

// failed reports whether any field is set.
func (e Error) failed() bool {
	return !reflect.ValueOf(e).IsZero()
}

// issues returns the faults of a result in memory. Each field must be the same after it was written and read.
func (c *core) issues() []fault.Issue {
	var issues []fault.Issue
	probe := c.clone().extension()
	for i, f := range c.extension() {
		if v := f.write(); v != nil {
			if bad := probe[i].read(v); bad != nil {
				bad.Pointer = strings.TrimPrefix(bad.Pointer, extensionPtr)
				issues = append(issues, *bad)
			}
		}
	}
	switch {
	case c.Status == "":
		issues = append(issues, ruled("/status", "required", ""))
	case c.Status == StatusError && c.Error.Class == "":
		issues = append(issues, ruled("/error/class", "required", "class of the error"))
	case c.Status != StatusError && c.Error.failed():
		issues = append(issues, misplaced("/error", "error"))
	}
	if c.Status == StatusError && c.Message != "" {
		const others = "success or in-progress, as an error has its own message"
		issues = append(issues, misplaced("/message", others))
	}
	return issues
}

func misplaced(pointer, status string) fault.Issue {
	return ruled(pointer, "dependentRequired", "nothing here unless the status is "+status)
}
