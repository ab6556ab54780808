package claude

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

const pdf = "application/pdf"

func refuses(p message.Part) string {
	switch {
	case p.Kind == message.AudioPart:
		return "the API does not accept audio"
	case p.Kind == message.FilePart && p.URL == "" && p.MediaType != pdf &&
		!strings.HasPrefix(p.MediaType, "text/"):
		return fmt.Sprintf("the API accepts the bytes of %s and of texts: use one of these, or a URL", pdf)
	}
	return ""
}

// block converts a part of a user message or of a tool result.
func block(p message.Part) kit.Object {
	if p.Kind == message.TextPart {
		return kit.Texts("type", "text", "text", p.Text)
	}
	source := kit.Quoted("type", "base64", "media_type", p.MediaType, "data", p.Data)
	switch {
	case p.URL != "":
		source = kit.Quoted("type", "url", "url", p.URL)
	case p.Kind == message.FilePart && p.MediaType != pdf:
		text, _ := base64.StdEncoding.DecodeString(p.Data) // it was checked
		source = kit.Quoted("type", "text", "media_type", "text/plain", "data",
			strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	if p.Kind == message.ImagePart {
		return kit.Object{kit.TextField("type", "image"), kit.Field("source", source)}
	}
	o := kit.Object{kit.TextField("type", "document"), kit.Field("source", source)}
	if p.Name != "" {
		o = append(o, kit.TextField("title", p.Name))
	}
	return o
}

// blocks converts a text, if there is one, and the parts after it.
func blocks(text string, parts []message.Part) (all []kit.Object) {
	if !kit.Blank(text) {
		all = append(all, textBlock(text))
	}
	for _, p := range parts {
		all = append(all, block(p))
	}
	return all
}
