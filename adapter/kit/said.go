package kit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// saidError is the error in a body, in the forms of all providers. Code and RequestID are words: see word.
type saidError struct {
	Code, Sentence, RequestID string
	// Status is the HTTP status in the body; 0 if there is none.
	Status int
}

// The members that tell an error, the most telling first, and those within which one stands. Their case does
// not count.
var (
	codeNames     = []string{"code", "status", "type", "error_code", "status_code"}
	sentenceNames = []string{"message", "msg", "detail", "error_msg", "status_msg", "title", "error"}
	around        = []string{"error", "errors", "base_resp", "response", "choices", "x_groq"}
	// holders are those of around that have their error in a member.
	holders = []string{"response", "choices", "x_groq"}
)

// readError parses the body of an error: an object with the member error (text or object), a list of them
// (Gemini), an error within a response, a choice or Groq's own member, or an object that is the error itself.
// The sentence may be the body of another's error. For anything else it returns nothing.
func readError(body []byte) saidError {
	said := outermost(body)
	if !json.Valid([]byte(said.Sentence)) {
		return said
	}
	within := readError([]byte(said.Sentence))
	if within.Sentence == "" {
		return said
	}
	return saidError{Code: cmp.Or(within.Code, said.Code), Sentence: within.Sentence,
		RequestID: cmp.Or(within.RequestID, said.RequestID), Status: cmp.Or(said.Status, within.Status)}
}

// outermost parses the body of an error that is nobody else's.
func outermost(body []byte) saidError {
	outer, _ := ReadObject(first(body))
	said := readSaid(outer)
	for _, name := range around {
		place := first(member(outer, name))
		if slices.Contains(holders, name) {
			holder, _ := ReadObject(place)
			place = member(holder, "error")
		}
		if sentence := Text(place); sentence != "" {
			return saidError{Sentence: sentence, Status: said.Status, RequestID: said.RequestID}
		}
		inner, _ := ReadObject(place)
		if found := readSaid(inner); found.Code+found.Sentence != "" {
			found.Status, found.RequestID = cmp.Or(found.Status, said.Status),
				cmp.Or(found.RequestID, said.RequestID)
			return found
		}
	}
	return said
}

// maxStatus is the highest status of HTTP.
const maxStatus = 599

// readSaid reads an object that is an error.
func readSaid(o Object) (said saidError) {
	for _, name := range codeNames {
		v := member(o, name)
		code := cmp.Or(Text(v), string(v))
		switch n, err := strconv.Atoi(code); {
		case err == nil && n >= http.StatusBadRequest && n <= maxStatus:
			said.Status = cmp.Or(said.Status, n)
		case err == nil && n > maxStatus || Text(v) != "":
			said.Code = cmp.Or(said.Code, word(code))
		}
	}
	said.Sentence, said.RequestID = sentenceIn(o, 0), word(Text(member(o, "request_id")))
	return upstream(o, said)
}

// upstream adds what the provider behind a gateway said, if it stands beside the error (OpenRouter): as its
// body, whose code tells more than the gateway's, or as a text.
func upstream(o Object, said saidError) saidError {
	metadata, _ := ReadObject(member(o, "metadata"))
	raw := Text(member(metadata, "raw"))
	if raw == "" {
		return said
	}
	within := readError([]byte(raw))
	if !json.Valid([]byte(raw)) {
		within.Sentence = raw
	}
	if within.Sentence != "" {
		said.Sentence = strings.TrimPrefix(said.Sentence+": "+within.Sentence, ": ")
	}
	said.Code = cmp.Or(within.Code, said.Code)
	return said
}

// maxNested bounds how deep a sentence is looked for.
const maxNested = 3

// sentenceIn returns the sentence of an error. Some servers put an object in its place, or a list of them.
func sentenceIn(o Object, depth int) (sentence string) {
	for _, name := range sentenceNames {
		v := first(member(o, name))
		if sentence = Text(v); sentence == "" && depth < maxNested {
			inner, _ := ReadObject(v)
			sentence = sentenceIn(inner, depth+1)
		}
		if sentence != "" {
			break
		}
	}
	return sentence
}

// member returns the value of a member, whatever the case of its name.
func member(o Object, name string) json.RawMessage {
	for _, m := range o {
		if strings.EqualFold(m.Name, name) {
			return m.Value
		}
	}
	return nil
}

// first returns the first item of a list, or a value that is none.
func first(raw json.RawMessage) json.RawMessage {
	if items := Items(raw); len(items) > 0 {
		return items[0]
	}
	return raw
}

// NoReply is the error of a good response that has no reply: the one that its body tells, or else another.
// Some servers answer 200 whatever happened.
func NoReply(body []byte, otherwise error) error {
	if len(body) > maxRefusal || readError(body).Sentence == "" {
		return otherwise
	}
	return &ReportedError{Body: bytes.Clone(body)}
}

// nothings are the values that tell of no error.
var nothings = []string{"", "null", "{}", `""`, "false", "[]", "0"}

// IsError reports whether the value of a member named error is an error. Some servers always send one, with
// empty members.
func IsError(v json.RawMessage) bool {
	if o, isObject := ReadObject(v); isObject {
		return slices.ContainsFunc(o, func(m Member) bool { return !slices.Contains(nothings, string(m.Value)) })
	}
	return !slices.Contains(nothings, string(v))
}
