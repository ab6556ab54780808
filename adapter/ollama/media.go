package ollama

import (
	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

func refuses(p message.Part) string {
	switch {
	case p.Kind != message.ImagePart:
		return "the API accepts only images"
	case p.URL != "":
		return "the API does not accept images by URL: use the bytes"
	}
	return ""
}

// withParts joins the text of a message with those of its parts, and returns the images.
func withParts(m message.Message) (text string, images []string) {
	texts := []string{m.Text}
	for _, p := range m.Parts {
		if p.Kind == message.TextPart {
			texts = append(texts, p.Text)
		} else {
			images = append(images, p.Data)
		}
	}
	return kit.Join(texts...), images
}
