package eino

import (
	"encoding/json"
	"strings"

	einoschema "github.com/cloudwego/eino/schema"

	retake "github.com/retake-go/retake/message"
)

// part converts a medium. A kind that retake does not have, or a medium without bytes, becomes a text that
// names it.
func part(kind retake.PartKind, named, file string, m *einoschema.MessagePartCommon) retake.Part {
	if m != nil {
		p := retake.Part{Kind: kind, URL: value(m.URL), Data: value(m.Base64Data), MediaType: m.MIMEType,
			Name: file}
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

// inputParts converts the parts of a user message or of a tool's result.
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

// split splits parts into the texts that they begin with, and the others.
func split(parts []retake.Part) (text string, rest []retake.Part) {
	for n, p := range parts {
		if p.Kind != retake.TextPart {
			return text, parts[n:]
		}
		text = strings.TrimPrefix(text+"\n"+p.Text, "\n")
	}
	return text, nil
}

// mediaOf returns a tool's result as JSON, and its media.
func mediaOf(result *einoschema.ToolResult) (json.RawMessage, []retake.Part, error) {
	input, err := result.ToMessageInputParts()
	if err != nil {
		return nil, nil, err
	}
	text, parts := split(inputParts(input))
	doc, err := textJSON(text)
	return doc, parts, err
}
