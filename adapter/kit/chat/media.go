package chat

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// audioFormats maps media types to the formats of the Chat API.
var audioFormats = map[string]string{
	"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3",
}

func chatRefuses(p message.Part) string {
	switch {
	case p.Kind == message.AudioPart && p.URL != "":
		return "the Chat API does not accept audio by URL: use its bytes"
	case p.Kind == message.AudioPart && audioFormats[p.MediaType] == "":
		return "the Chat API accepts audio/wav and audio/mpeg"
	case p.Kind == message.FilePart && p.URL != "":
		return "the Chat API does not accept files by URL: use the bytes"
	}
	return ""
}

func responsesRefuses(p message.Part) string {
	if p.Kind == message.AudioPart {
		return "the Responses API does not accept audio: use Chat"
	}
	return ""
}

// chatPart converts a part of a user message.
func chatPart(p message.Part) json.RawMessage {
	switch p.Kind {
	case message.ImagePart:
		return kit.Part("image_url", "image_url", kit.Quoted("url", kit.DataURL(p)))
	case message.AudioPart:
		return kit.Part("input_audio", "input_audio", kit.Quoted("data", p.Data, "format",
			audioFormats[p.MediaType]))
	case message.FilePart:
		return kit.Part("file", "file", kit.Quoted("filename", fileName(p), "file_data", kit.DataURL(p)))
	}
	return kit.Quoted("type", "text", "text", p.Text)
}

// responsesPart converts a part of a user message or of a function's output.
func responsesPart(p message.Part) json.RawMessage {
	switch {
	case p.Kind == message.ImagePart:
		return kit.Quoted("type", "input_image", "image_url", kit.DataURL(p))
	case p.Kind == message.FilePart && p.URL != "":
		return kit.Quoted("type", "input_file", "file_url", p.URL)
	case p.Kind == message.FilePart:
		return kit.Quoted("type", "input_file", "filename", fileName(p), "file_data", kit.DataURL(p))
	}
	return kit.Quoted("type", "input_text", "text", p.Text)
}

// extensions are the ends of file names by media type, where the subtype is none. The APIs tell a file's type
// by its name.
var extensions = map[string]string{
	"text/plain": "txt", "text/markdown": "md", "text/x-markdown": "md", "application/x-yaml": "yaml",
	"text/javascript": "js", "application/javascript": "js",
	"application/msword": "doc", "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   "docx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         "xlsx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
}

// fileName returns the name of a file: the APIs want one with the bytes.
func fileName(p message.Part) string {
	if p.Name != "" {
		return p.Name
	}
	kind, _, _ := strings.Cut(p.MediaType, ";")
	_, sub, _ := strings.Cut(kind, "/")
	return "file." + cmp.Or(extensions[strings.TrimSpace(kind)], strings.TrimSpace(sub))
}

// content returns a text and the parts after it as a list.
func content(text string, parts []message.Part, write func(message.Part) json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if !kit.Blank(text) {
		all = append(all, write(message.Part{Kind: message.TextPart, Text: text}))
	}
	for _, p := range parts {
		all = append(all, write(p))
	}
	return kit.List(all...)
}

// withMedia returns a message of the user with media.
func withMedia(t turn, write func(message.Part) json.RawMessage) json.RawMessage {
	return kit.Object{kit.TextField("role", "user"),
		kit.Field("content", content(t.Text, t.Parts, write))}.JSON()
}
