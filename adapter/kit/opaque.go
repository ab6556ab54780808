package kit

import (
	"encoding/json"
	"strings"

	"github.com/retake-go/retake/message"
)

// Origin says who wrote the opaque data of a message: another adapter, server or model cannot read it.
type Origin struct {
	Adapter string `json:"adapter"`
	// Provider is the server; empty if the adapter has only one.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model"`
}

// KeepOpaque returns data as message.Reply.Opaque. data is a struct that begins with its Origin; its texts
// and JSON values always have a JSON form. JSON values that are not valid UTF-8 are made so.
func KeepOpaque(data any) string {
	doc, err := Marshal(data)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(doc), "\uFFFD")
}

// ReadOpaque parses the opaque data of a message into data; false if another origin wrote it.
func ReadOpaque(m message.Message, by Origin, data any) bool {
	var from Origin
	return m.Opaque != "" && json.Unmarshal([]byte(m.Opaque), &from) == nil && from == by &&
		json.Unmarshal([]byte(m.Opaque), data) == nil
}
