package kit

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// Said is the error in a body, in the forms of all providers. Code and RequestID are words: see word.
type Said struct {
	Code, Sentence, RequestID string
	// Status is the HTTP status in the body; 0 if there is none.
	Status int
}

// saying is an error, or an object around one.
type saying struct {
	Code, Type, Status, Message, Detail, Error, Response, Choices json.RawMessage
	RequestID                                                     json.RawMessage `json:"request_id"`
}

// ReadError parses the body of an error: an object with the member error (text or object), a list of them
// (Gemini), an error within a response or a choice, or an object that is the error itself. For anything
// else it returns nothing.
func ReadError(body []byte) Said {
	if items := Items(body); len(items) > 0 {
		body = items[0]
	}
	var around saying
	if json.Unmarshal(body, &around) != nil {
		return Said{}
	}
	said := around.said()
	response, _ := ReadObject(around.Response)
	places := []json.RawMessage{around.Error, response.Get("error")}
	for _, c := range Items(around.Choices) {
		choice, _ := ReadObject(c)
		places = append(places, choice.Get("error"))
	}
	for _, place := range places {
		var inner saying
		if sentence, isText := ReadText(place); isText {
			return Said{Sentence: sentence, Status: said.Status, RequestID: said.RequestID}
		}
		if IsError(place) && json.Unmarshal(place, &inner) == nil {
			found := inner.said()
			found.Status, found.RequestID = cmp.Or(found.Status, said.Status),
				cmp.Or(found.RequestID, said.RequestID)
			return found
		}
	}
	return said
}

func (s saying) said() Said {
	said := Said{
		Code:     cmp.Or(word(Text(s.Code)), word(Text(s.Status)), word(Text(s.Type))),
		Sentence: cmp.Or(Text(s.Message), Text(s.Detail)), RequestID: word(Text(s.RequestID)),
	}
	for _, n := range []json.RawMessage{s.Code, s.Status} {
		if status, err := strconv.Atoi(string(n)); err == nil && status >= http.StatusBadRequest &&
			status < 600 {
			said.Status = cmp.Or(said.Status, status)
		}
	}
	return said
}

// IsError reports whether the value of a member named error is an error.
func IsError(v json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "{}", `""`, "false", "[]"}, string(v))
}
