package genai

import (
	"encoding/json"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// mediaPart converts a part of a user message. The API treats images, recordings and files alike.
func mediaPart(p message.Part) json.RawMessage {
	switch {
	case p.Kind == message.TextPart:
		return textPart(p.Text, "")
	case p.URL != "":
		return kit.Object{kit.Field("fileData", kit.Quoted("mimeType", p.MediaType, "fileUri",
			p.URL))}.JSON()
	}
	return kit.Object{kit.Field("inlineData", kit.Quoted("mimeType", p.MediaType, "data", p.Data))}.JSON()
}
