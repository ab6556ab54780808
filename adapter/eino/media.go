package eino

import (
	"encoding/json"
	"strings"

	einoschema "github.com/cloudwego/eino/schema"

	retake "github.com/retake-go/retake/message"
)

// part is a medium of Eino's as a part of retake's. What retake has no kind for, or what lacks its bytes, is a
// text that names it.
func part(kind retake.PartKind, named, file string, m *einoschema.MessagePartCommon) retake.Part {
	if m != nil {
		p := retake.Part{Kind: kind, URL: value(m.URL), Data: value(m.Base64Data), MediaType: m.MIMEType, Name: file}
		if p.Validate() == nil {
			return p
		}
	}
	return textPart("[" + named + "]")
}

func textPart(text string) retake.Part { return retake.Part{Kind: retake.TextPart, Text: text} }

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// inputParts are the parts of a user's message, and of a tool's result that was sent before.
func inputParts(all []einoschema.MessageInputPart) (parts []retake.Part) {
	for _, p := range all {
		switch {
		case p.Type == einoschema.ChatMessagePartTypeText:
			parts = append(parts, textPart(p.Text))
		case p.Image != nil:
			parts = append(parts, part(retake.ImagePart, "image", "", &p.Image.MessagePartCommon))
		case p.Audio != nil:
			parts = append(parts, part(retake.AudioPart, "audio", "", &p.Audio.MessagePartCommon))
		case p.File != nil:
			parts = append(parts, part(retake.FilePart, "file", p.File.Name, &p.File.MessagePartCommon))
		default:
			parts = append(parts, textPart("["+string(p.Type)+"]"))
		}
	}
	return parts
}

// split is a message of parts as a text and what follows it: the texts that it begins with, then the others.
func split(parts []retake.Part) (text string, rest []retake.Part) {
	for n, p := range parts {
		if p.Kind != retake.TextPart {
			return text, parts[n:]
		}
		text = strings.TrimPrefix(text+"\n"+p.Text, "\n")
	}
	return text, nil
}

// mediaOf is a tool's result as JSON, and the media that follow it.
func mediaOf(result *einoschema.ToolResult) (json.RawMessage, []retake.Part, error) {
	input, err := result.ToMessageInputParts()
	if err != nil {
		return nil, nil, err
	}
	text, parts := split(inputParts(input))
	doc, err := textJSON(text)
	return doc, parts, err
}
