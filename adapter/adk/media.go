package adk

import (
	"cmp"
	"strings"

	"google.golang.org/genai"

	retake "github.com/retake-go/retake/message"
)

// userText splits a user's content: into the texts that it begins with, and the other parts.
func userText(c *genai.Content) (text string, parts []retake.Part) {
	for _, p := range c.Parts {
		switch {
		case p == nil || p.Thought:
		case p.Text != "" && parts == nil:
			text += p.Text
		case p.Text != "":
			parts = append(parts, retake.Part{Kind: retake.TextPart, Text: p.Text})
		case p.InlineData != nil:
			parts = append(parts, inline(p.InlineData.MIMEType, p.InlineData.DisplayName, p.InlineData.Data))
		case p.FileData != nil:
			parts = append(parts, file(p.FileData.MIMEType, p.FileData.DisplayName, p.FileData.FileURI))
		case p.ExecutableCode != nil || p.CodeExecutionResult != nil:
			text += "[data]"
		}
	}
	return text, parts
}

// mediaOf returns the parts of a content that are media.
func mediaOf(c *genai.Content) (parts []*genai.Part) {
	if c == nil {
		return nil
	}
	for _, p := range c.Parts {
		if p != nil && (p.InlineData != nil || p.FileData != nil) {
			parts = append(parts, p)
		}
	}
	return parts
}

// resultParts returns the media of a tool's result.
func resultParts(all []*genai.FunctionResponsePart) (parts []retake.Part) {
	for _, p := range all {
		switch {
		case p == nil:
		case p.InlineData != nil:
			parts = append(parts, inline(p.InlineData.MIMEType, p.InlineData.DisplayName, p.InlineData.Data))
		case p.FileData != nil:
			parts = append(parts, file(p.FileData.MIMEType, p.FileData.DisplayName, p.FileData.FileURI))
		}
	}
	return parts
}

func inline(mimeType, name string, data []byte) retake.Part {
	p := retake.Bytes(kindOf(mimeType), mimeType, data)
	p.Name = name
	return sound(p)
}

func file(mimeType, name, uri string) retake.Part {
	return sound(retake.Part{Kind: kindOf(mimeType), MediaType: mimeType, Name: name, URL: uri})
}

// sound returns a valid part, or a text that names an invalid one.
func sound(p retake.Part) retake.Part {
	if p.Validate() != nil {
		return retake.Part{Kind: retake.TextPart, Text: "[" + cmp.Or(p.MediaType, "data") + "]"}
	}
	return p
}

func kindOf(mimeType string) retake.PartKind {
	switch kind, _, _ := strings.Cut(mimeType, "/"); kind {
	case "image":
		return retake.ImagePart
	case "audio":
		return retake.AudioPart
	}
	return retake.FilePart
}
