package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
)

const pdf = "application/pdf"

func refuses(p message.Part) string {
	switch {
	case p.Kind == message.AudioPart:
		return "the API takes no audio"
	case p.Kind == message.FilePart && p.URL == "" && p.MediaType != pdf && !strings.HasPrefix(p.MediaType, "text/"):
		return fmt.Sprintf("the API takes the bytes of %s and of texts: give it by URL, or as one of these", pdf)
	}
	return ""
}

// block is a part as a block of the user's, or of a tool's result.
func block(p message.Part) json.RawMessage {
	if p.Kind == message.TextPart {
		return wire.Quoted("type", "text", "text", p.Text)
	}
	source := wire.Quoted("type", "base64", "media_type", p.MediaType, "data", p.Data)
	switch {
	case p.URL != "":
		source = wire.Quoted("type", "url", "url", p.URL)
	case p.Kind == message.FilePart && p.MediaType != pdf:
		text, _ := base64.StdEncoding.DecodeString(p.Data) // it was checked
		source = wire.Quoted("type", "text", "media_type", "text/plain", "data", strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	if p.Kind == message.ImagePart {
		return wire.Part("image", "source", source)
	}
	o := wire.Object{wire.Field("type", wire.Quote("document")), wire.Field("source", source)}
	if p.Name != "" {
		o = append(o, wire.Field("title", wire.Quote(p.Name)))
	}
	return o.JSON()
}

// blocks are a text, where there is one, and the parts after it.
func blocks(text string, parts []message.Part) (all []sdk.ContentBlockParamUnion) {
	if !wire.Blank(text) {
		all = append(all, sdk.NewTextBlock(text))
	}
	for _, p := range parts {
		all = append(all, param.Override[sdk.ContentBlockParamUnion](block(p)))
	}
	return all
}
