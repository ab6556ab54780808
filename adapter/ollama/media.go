package ollama

import (
	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
)

func refuses(p message.Part) string {
	switch {
	case p.Kind != message.ImagePart:
		return "the API takes images alone"
	case p.URL != "":
		return "the API takes no image by URL: give its bytes"
	}
	return ""
}

// withParts is a text with those of the parts, and the images among them.
func withParts(m message.Message) (text string, images []string) {
	texts := []string{m.Text}
	for _, p := range m.Parts {
		if p.Kind == message.TextPart {
			texts = append(texts, p.Text)
		} else {
			images = append(images, p.Data)
		}
	}
	return wire.Join(texts...), images
}
