package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/internal/httphint"
)

// Response is what arrived instead of a good reply. Every field is optional; more fields give a better
// classification.
type Response struct {
	// Provider and Model are names as configured; several writings of a provider's name are known.
	Provider string
	Model    string
	// Status is the HTTP status, or 0. An error within a 200 body is an error.
	Status int
	// Type and Code are from the body, as an SDK returns them: "insufficient_quota", "ThrottlingException",
	// "RateLimitError".
	Type string
	Code string
	// Message is the error's sentence. It is read for words only if there is nothing better.
	Message string
	// Headers are the response's, in any case; an http.Header fits.
	Headers map[string][]string
	// Body is the raw body: JSON, server-sent events, or whatever came. The first 1 MiB is read.
	Body []byte
	// Err is the Go error, if there is one.
	Err error
	// Now is when the response came, for a Retry-After that is a date; with the zero time such a date is
	// not read.
	Now time.Time
}

// Verdict is the classification of a Response. The zero value means that nothing went wrong.
type Verdict struct {
	Class Class
	Plane Plane
	// Retryable says whether another try may help. It is that of the class, with two exceptions: on the
	// transport plane the server may have said outright what to do (x-should-retry, or a Go error that is
	// final); and where a document's name of a correction class is all that is known, it is false, because
	// documents do not retry these.
	Retryable bool
	// RetryAfter is the wait that the server asked for, in a header, its body or the Go error. It is valid if
	// Asked is set.
	RetryAfter time.Duration
	Asked      bool
	// Message is the provider's sentence on one line, for operators only.
	Message string
	// Metadata is the data that a message to users may show.
	Metadata Metadata
}

// Failed reports whether anything went wrong.
func (v Verdict) Failed() bool { return v.Class != "" }

// Failure returns the verdict as the core sees it.
func (v Verdict) Failure() Failure {
	return Failure{Plane: v.Plane, Class: v.Class, Message: v.Message, RetryAfter: v.RetryAfter,
		Final: v.final()}
}

// final reports whether the server overruled a class that is retried. It cannot overrule the correction
// plane.
func (v Verdict) final() bool {
	return v.Class.Transient() && !v.Retryable
}

type wireVerdict struct {
	Code         Class  `json:"code"`
	Plane        Plane  `json:"plane"`
	Retryable    bool   `json:"retryable"`
	Names        Names  `json:"names"`
	RetryAfterMS *int64 `json:"retry_after_ms,omitempty"`
	UserMessage  string `json:"user_message"`
}

// MarshalJSON writes code, plane, retryable, names, retry_after_ms (whole milliseconds, rounded up; absent if
// the server asked for no wait) and user_message; null if nothing went wrong.
func (v Verdict) MarshalJSON() ([]byte, error) {
	if !v.Failed() {
		return []byte("null"), nil
	}
	w := wireVerdict{Code: v.Class, Plane: v.Plane, Retryable: v.Retryable, Names: v.Class.Names(),
		UserMessage: UserMessage(v.Class, v.Metadata)}
	if v.Asked {
		ms := int64((v.RetryAfter + time.Millisecond - 1) / time.Millisecond)
		w.RetryAfterMS = &ms
	}
	return json.Marshal(w)
}

// maxResponse bounds the JSON form of a Response, in bytes: the largest body that is read, with all of it
// escaped.
const maxResponse = 8 * httphint.MaxBody

// wireResponse is the JSON form of a Response.
type wireResponse struct {
	Provider string                     `json:"provider"`
	Model    string                     `json:"model"`
	Status   json.RawMessage            `json:"status"`
	Type     string                     `json:"type"`
	Code     json.RawMessage            `json:"code"`
	Message  string                     `json:"message"`
	Headers  map[string]json.RawMessage `json:"headers"`
	Body     json.RawMessage            `json:"body"`
}

// ReadResponse reads the JSON form of a Response: an object of provider, model, status, type, code, message,
// headers and body, all optional, in at most 8 MiB. Status and code may be a number or a string; a status has
// three digits, or is 0 for none, and may also be "429 Too Many Requests" or Google's word for it. A header's
// value is a string, a number or a list of them. The body is raw text or JSON. An object with other members
// is taken for the bare body of an error, such as {"error": {...}}. Other members are refused beside
// provider, headers or body, and where a name is close to a known one. So is anything after the object. The
// error names the member and what would be right.
func ReadResponse(doc []byte) (Response, error) {
	if len(doc) > maxResponse {
		return Response{}, fmt.Errorf("error document: %d bytes, at most %d are read", len(doc), maxResponse)
	}
	if bare, err := isBare(doc); err != nil || bare {
		return Response{Body: bytes.Clone(doc)}, err
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	var w *wireResponse
	if err := d.Decode(&w); err != nil {
		return Response{}, documentError(err)
	}
	if w == nil {
		return Response{}, documentError(&json.UnmarshalTypeError{Value: "null"})
	}
	if _, err := d.Token(); err != io.EOF {
		return Response{}, errors.New("error document: something follows the object; expected one object")
	}
	r := Response{Provider: w.Provider, Model: w.Model, Type: w.Type, Message: w.Message,
		Body: textOrJSON(w.Body)}
	var errCode, errHeaders error
	r.Code, errCode = scalar("code", w.Code)
	status, errStatus := scalar("status", w.Status)
	if errStatus == nil && status != "" {
		errStatus = r.setStatus(status)
	}
	r.Headers, errHeaders = headerLists(w.Headers)
	return r, errors.Join(errStatus, errCode, errHeaders)
}

// members are those of a Response's JSON form.
var members = []string{"provider", "model", "status", "type", "code", "message", "headers", "body"}

// isBare reports whether an object is not the JSON form of a Response but the body of an error. An error
// names a member that fits neither.
func isBare(doc []byte) (bool, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(doc, &object) != nil {
		return false, nil
	}
	form := object["provider"] != nil || object["headers"] != nil || object["body"] != nil
	bare := false
	for _, name := range canon.Keys(object) {
		if slices.Contains(members, name) {
			continue
		}
		bare = true
		switch near := fields.Near(name, members); {
		case near != "":
			return false, fmt.Errorf("%s: unknown member: did you mean %s?", Scrub(name), near)
		case form:
			return false, fmt.Errorf("%s: unknown member: expected only %s; what the provider sent stands in "+
				"body", Scrub(name), strings.Join(members, ", "))
		}
	}
	return bare, nil
}

// setStatus reads a status, also with its reason ("429 Too Many Requests") or as a decimal. Google's SDKs
// have them the other way round: a word as the status, and the number as the code.
func (r *Response) setStatus(text string) error {
	number, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if n, err := strconv.Atoi(strings.TrimSuffix(number, ".0")); err == nil {
		if n != 0 && (n < 100 || n > 999) { // some proxies have numbers of their own beyond the standard's
			return fmt.Errorf("status: expected an HTTP status of three digits, or 0 where there was none, "+
				"got %d", n)
		}
		r.Status = n
		return nil
	}
	if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return fmt.Errorf("status: expected an HTTP status, got %q", text)
	}
	if n, isStatus := numericCode(r.Code); isStatus || r.Code == "" {
		r.Status, r.Code = n, text
	}
	return nil
}

// documentError returns the error for a document that is not the JSON form, without Go's own words.
func documentError(err error) error {
	expected := "expected an object of " + strings.Join(members, ", ")
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s: expected %s, got %s", kind.Field,
			map[bool]string{true: "an object", false: "a string"}[kind.Field == "headers"], kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("error document: %s, got %s", expected, kind.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("error document: no JSON at byte %d: %s", syntax.Offset, expected)
	}
	return errors.New("error document: cut off or empty: " + expected)
}

// scalar reads a string or a number as text; null and nothing are empty.
func scalar(name string, raw json.RawMessage) (string, error) {
	var text string
	var number json.Number
	switch {
	case len(raw) == 0 || json.Unmarshal(raw, &text) == nil:
		return text, nil
	case json.Unmarshal(raw, &number) == nil:
		return number.String(), nil
	}
	return "", fmt.Errorf("%s: expected a string or a number, got %s", name, Scrub(string(raw)))
}

func headerLists(raw map[string]json.RawMessage) (map[string][]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	out := make(map[string][]string, len(raw))
	var faults []error
	for _, name := range canon.Keys(raw) {
		var list []json.RawMessage
		if json.Unmarshal(raw[name], &list) != nil {
			list = []json.RawMessage{raw[name]}
		}
		for _, item := range list {
			value, err := scalar("headers."+name, item)
			if err != nil {
				faults = append(faults, err)
			}
			out[name] = append(out[name], value)
		}
	}
	return out, errors.Join(faults...)
}

// textOrJSON returns the body: the text of a JSON string, or any other JSON as it is.
func textOrJSON(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	return bytes.Clone(raw)
}

// numericCode returns a code as classification compares it: a number is a status.
func numericCode(code string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(code))
	return n, err == nil && n >= 100 && n <= 599
}
