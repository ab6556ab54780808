package kit

import (
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/message"
)

// CheckMedia returns an error that names a part which the API does not accept. refuses returns the reason
// for such a part, and is empty for others; it is not asked about texts. A nil refuses accepts all.
func CheckMedia(provider string, said []message.Message, refuses func(message.Part) string) error {
	for n, m := range said {
		for k, p := range m.Parts {
			why := ""
			if err := p.Validate(); err != nil {
				why = err.Error()
			} else if p.Kind != message.TextPart && refuses != nil {
				why = refuses(p)
			}
			if why != "" {
				return Unasked(provider, fmt.Sprintf("messages[%d].parts[%d]: %s: %s", n, k, p, why))
			}
		}
	}
	return nil
}

// DataURL returns the URL of a medium, or a data URL with its bytes.
func DataURL(p message.Part) string {
	if p.URL != "" {
		return p.URL
	}
	return "data:" + p.MediaType + ";base64," + p.Data
}

// Part returns a JSON object of a type and one more member, if it has a name.
func Part(kind, name string, value json.RawMessage) json.RawMessage {
	o := Object{TextField("type", kind)}
	if name != "" {
		o = append(o, Field(name, value))
	}
	return o.JSON()
}

// Texts returns an object of texts without the empty ones. namesAndTexts are pairs of a name and its text.
func Texts(namesAndTexts ...string) (o Object) {
	for n := 0; n < len(namesAndTexts); n += 2 {
		if text := namesAndTexts[n+1]; text != "" {
			o = append(o, TextField(namesAndTexts[n], text))
		}
	}
	return o
}

// Quoted returns the JSON of [Texts].
func Quoted(namesAndTexts ...string) json.RawMessage { return Texts(namesAndTexts...).JSON() }
