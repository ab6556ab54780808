package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/httphint"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// The types of members with a JSON form of their own. All others are written as by encoding/json.
type (
	httpStatus int           // also read from digits in quotes, and from 0 for none
	millis     time.Duration // milliseconds, exact to the nanosecond
	waitMillis ratelimit.Span
	tokens     Usage // its total
	total      Cost  // its total
	timestamp  string
	success    Status // true unless the run has failed
	kebabCode  fault.Class
	snakeCode  fault.Class
	upperCode  fault.Class
	said       core // the message of an error, or of any other result
	content    core // the raw text of an agent result, or data that is a text
	// contentRole says what the content is besides the data. It is read by finish and written by extend.
	contentRole core
	object      json.RawMessage
	original    json.RawMessage // written and read without secrets
	costParts   struct {
		Input      float64 `json:"input,omitzero"`
		Output     float64 `json:"output,omitzero"`
		CacheRead  float64 `json:"cache_read,omitzero"`
		CacheWrite float64 `json:"cache_write,omitzero"`
		Total      float64 `json:"total,omitzero"`
	}
)

// What the content of an agent result can be, if not the data.
const (
	textOnly    = "text"
	textAndData = "both"
)

// The limits of a document: unknown members, headers, windows.
const (
	maxKept    = 4096
	maxHeaders = 4096
	maxRows    = 4096
)

// plain returns the value that encoding/json writes for a field that is not zero, or nil if the member is
// left out.
func plain(at any) any {
	switch at := at.(type) {
	case *millis:
		return json.RawMessage(canon.InUnits(time.Duration(*at), time.Millisecond))
	case *waitMillis:
		return json.RawMessage(canon.InUnits(at.Duration, time.Millisecond))
	case *tokens:
		return unlessZero((*Usage)(at).Tokens())
	case *total:
		return unlessZero((*Cost)(at).Amount())
	case *Cost:
		if at.hasParts() {
			return costParts(*at)
		}
		return at.Total
	case *success:
		return Status(*at) != StatusError
	case *kebabCode:
		return ownOr(*at, fault.Class(*at).Names().ResultEnvelope)
	case *snakeCode:
		return ownOr(*at, fault.Class(*at).Names().AgentResult)
	case *upperCode:
		if strings.Trim(string(*at), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "" {
			return ownOr(*at, fault.Class(*at).Names().AgentError)
		}
		return fault.Class(*at).Names().AgentError
	case *said:
		return *(*core)(at).said()
	case *content:
		if at.Content == "" && at.Status == StatusSuccess && kindOf(at.Data) == fault.String {
			return at.Data
		}
		return unlessZero(at.Content)
	case *contentRole:
		return nil
	case *object:
		if kindOf(json.RawMessage(*at)) != fault.Object {
			return nil
		}
		return json.RawMessage(*at)
	case *original:
		return scrub("", json.RawMessage(*at))
	case *Headers:
		return at.clean()
	case *Extra:
		if len(*at) == 0 {
			return nil
		}
	}
	return at
}

func unlessZero[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// ownOr returns name for a built-in class, and an agent's own class unchanged.
func ownOr[C ~string](class C, name string) string {
	if fault.Class(class).Plane() != "" {
		return name
	}
	return string(class)
}

// refusal is the error for a wrong value. It has the place and, if they are not those of the field's type,
// the rule and what would be right.
type refusal struct{ pointer, rule, expected string }

func (*refusal) Error() string { return "refused" }

// decode reads a value into a field. The value is canonical JSON, and null only if the field may be null.
func decode(v json.RawMessage, at any) (err error) {
	switch at := at.(type) {
	case *int64:
		*at, err = httphint.Count(string(v))
	case *tokens:
		at.TotalTokens, err = httphint.Count(string(v))
	case **int:
		n, bad := httphint.Count(string(v))
		*at, err = new(int(n)), errIf(bad != nil || n > math.MaxInt32)
	case *httpStatus:
		n, bad := httphint.Count(strings.Trim(string(v), `"`))
		*at, err = httpStatus(n), errIf(bad != nil || n > 999 || n > 0 && n < 100)
	case *millis:
		*(*time.Duration)(at), err = httphint.Millis(string(v))
	case *waitMillis:
		at.Known = true
		at.Duration, err = httphint.Millis(string(v))
	case **bool:
		*at = new(bool)
		err = canon.Unmarshal(v, *at)
	case **float64:
		*at = new(float64)
		bad := canon.Unmarshal(v, *at)
		err = errIf(bad != nil || **at < 0 || **at > 1)
	case *Status:
		*at = Status(text(v))
		err = errIf(*at != StatusSuccess && *at != StatusError && *at != StatusInProgress)
	case *success:
		*at = success(StatusError)
		if string(v) == "true" {
			*at = success(StatusSuccess)
		}
		err = errIf(kindOf(v) != fault.Boolean)
	case *timestamp:
		*at = timestamp(text(v))
		_, ok := Execution{Timestamp: string(*at)}.Started()
		err = errIf(!ok && string(v) != `""`)
	case *kebabCode, *snakeCode, *upperCode:
		name := text(v)
		err = errIf(strings.TrimSpace(name) == "")
		if class, known := fault.ParseName(name); known {
			name, err = string(class), nil
		}
		reflect.ValueOf(at).Elem().SetString(name)
	default:
		err = decodeMany(v, at)
	}
	return err
}

// decodeMany is decode for values with parts.
func decodeMany(v json.RawMessage, at any) error {
	switch at := at.(type) {
	case *said:
		return canon.Unmarshal(v, (*core)(at).said())
	case *content:
		return canon.Unmarshal(v, &at.Content)
	case *contentRole:
		role := text(v)
		return errIf(role != textOnly && role != textAndData)
	case *object:
		*at = object(v)
		return errIf(kindOf(v) != fault.Object)
	case *original:
		*at = original(scrub("", v))
	case *json.RawMessage:
		*at = v
	case *total:
		return (*Cost)(at).decode(v)
	case *Cost:
		return at.decode(v)
	case *Headers:
		return at.decode(v)
	case *Extra:
		return at.decode(v)
	default:
		value := reflect.ValueOf(at).Elem()
		value.SetZero()
		if err := canon.Unmarshal(v, at); err != nil {
			return err
		}
		rows := value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct
		if rows && value.Len() > maxRows {
			return tooMany("maxItems", "objects", maxRows)
		}
	}
	return nil
}

func errIf(bad bool) error {
	if bad {
		return &refusal{}
	}
	return nil
}

// text returns a string, or "" for any other value.
func text(v json.RawMessage) (s string) {
	_ = canon.Unmarshal(v, &s)
	return s
}

// decode reads a number, which is the total, or the parts.
func (c *Cost) decode(v json.RawMessage) error {
	*c = Cost{}
	if kindOf(v) != fault.Object {
		err := canon.Unmarshal(v, &c.Total)
		return errIf(err != nil || c.Total < 0)
	}
	if err := canon.Unmarshal(v, (*costParts)(c)); err != nil {
		return err
	}
	for i, part := range [...]float64{c.Input, c.Output, c.CacheRead, c.CacheWrite, c.Total} {
		if part < 0 {
			return &refusal{pointer: [...]string{"/input", "/output", "/cache_read", "/cache_write",
				"/total"}[i]}
		}
	}
	return nil
}

// decode reads headers; their values may be strings, other scalars, or lists of them.
func (h *Headers) decode(v json.RawMessage) error {
	values, _ := parsed(v).(map[string]any)
	if values == nil {
		return &refusal{}
	}
	if len(values) > maxHeaders {
		return tooMany("maxProperties", "headers", maxHeaders)
	}
	*h = Headers{}
	for _, name := range canon.Keys(values) {
		list, many := values[name].([]any)
		if !many && values[name] != nil {
			list = []any{values[name]}
		}
		texts := make([]string, 0, len(list))
		for _, item := range list {
			switch item.(type) {
			case map[string]any, []any:
				return &refusal{canon.Pointer(name), "type", "string or list of strings"}
			case nil:
			default:
				texts = append(texts, fmt.Sprint(item))
			}
		}
		if many || len(texts) > 0 {
			h.add(name, texts)
		}
	}
	return nil
}

func (e *Extra) decode(v json.RawMessage) error {
	var all Extra
	if kindOf(v) != fault.Object || canon.Unmarshal(v, &all) != nil {
		return &refusal{}
	}
	*e = nil
	count := 0
	for _, form := range canon.Keys(all) {
		if count += 1 + len(all[form]); count > maxKept {
			return tooMany("maxProperties", "members", maxKept)
		}
		for _, pointer := range canon.Keys(all[form]) {
			e.keep(form, pointer, all[form][pointer])
		}
	}
	return nil
}

func tooMany(rule, what string, most int) error {
	return &refusal{"", rule, fmt.Sprintf("at most %d %s", most, what)}
}

// wanted returns the rule of a field's type, and what would be right.
func wanted(at any) (rule, expected string) {
	switch at.(type) {
	case *string, *fault.Class, *message.FinishReason, *said, *content:
		return "type", "string"
	case *bool, **bool, *success:
		return "type", "boolean"
	case *[]string:
		return "type", "list of strings"
	case *[]ratelimit.Window, *[]ratelimit.Ignored:
		return "type", "list of objects"
	case *Headers:
		return "type", "object of headers"
	case *Extra:
		return "type", "object of forms"
	case *Status:
		return "enum", `one of "success", "error", "in-progress"`
	case *kebabCode, *snakeCode, *upperCode:
		return "type", "error code, a string that is not empty"
	case *contentRole:
		return "enum", `one of "text", "both"`
	case *timestamp:
		return "format", "ISO 8601 time (2024-01-26T15:30:00Z)"
	case *int64, *tokens, **int, *ratelimit.Count:
		return "minimum", "whole number, 0 or more"
	case **float64:
		return "maximum", "number from 0 to 1"
	case *httpStatus:
		return "maximum", "HTTP status"
	case *Cost, *total, *float64:
		return "minimum", "amount in US dollars, 0 or more"
	case *millis, *waitMillis:
		return "minimum", "number of milliseconds, 0 or more and at most 366 days"
	case *ratelimit.Span:
		return "minimum", "number of seconds, 0 or more and at most 366 days"
	case *ratelimit.Date:
		return "type", "seconds since the epoch"
	}
	return "type", "object"
}

// write returns the member's value, or nil if it is left out.
func (f field) write() json.RawMessage {
	if f.mute {
		return nil
	}
	return f.said()
}

// said is write for a result of any status.
func (f field) said() json.RawMessage {
	if reflect.ValueOf(f.at).Elem().IsZero() {
		return nil
	}
	v := plain(f.at)
	if v == nil {
		return nil
	}
	doc := rendered(v)
	if kindOf(doc) == fault.Null && !f.nullable {
		return nil
	}
	return doc
}

// read sets the field, or says what would be right.
func (f field) read(v json.RawMessage) *fault.Issue {
	err := decode(v, f.at)
	if err == nil {
		return nil
	}
	rule, expected := wanted(f.at)
	var inside *canon.Error
	var own *refusal
	pointer := ""
	switch {
	case errors.As(err, &own):
		pointer = own.pointer
		if own.rule != "" {
			rule, expected = own.rule, own.expected
		}
	case errors.As(err, &inside) && inside.Pointer != "" && inside.GoType != nil:
		pointer = inside.Pointer
		rule, expected = wanted(reflect.New(inside.GoType).Interface())
	}
	bad := wrong(f.ptr+pointer, valueAt(parsed(v), pointer), rule, expected)
	return &bad
}

// wrong returns the issue of a wrong value.
func wrong(pointer string, v json.RawMessage, rule, expected string) fault.Issue {
	i := ruled(pointer, rule, expected)
	i.Got = kindOf(v)
	const longest = 64
	if len(v) <= longest && (i.Got == fault.Number || i.Got == fault.String && rule == "enum") {
		i.Value = string(v)
	}
	return i
}
