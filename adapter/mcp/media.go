package mcp

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
)

// media returns the media of a result that a model may see or hear, as far as they fit into MaxMediaBytes.
// all describes every block, left those that are not among the media.
func (r *remote) media(content []sdk.Content) (parts []message.Part, all, left []block) {
	size := 0
	for _, c := range content {
		b := blockOf(c)
		p, seen := r.part(c)
		if seen && size+int(b.Bytes) > r.cfg.MaxMediaBytes {
			seen = false
			b.Note = fmt.Sprintf("not shown, for at most %d bytes of media are shown", r.cfg.MaxMediaBytes)
		}
		if seen {
			size += int(b.Bytes)
			parts = append(parts, p)
		} else {
			left = append(left, b)
		}
		all = append(all, b)
	}
	return parts, all, left
}

// withoutMedia returns what the model reads of a result with the media of its blocks taken out, so that they
// are not read as text. parts are those that are attached. It leaves short ones, which may stand there by
// chance, and the media beyond maxTaken, for each is looked for in all of the text.
func withoutMedia(text string, content []sdk.Content, parts []message.Part) string {
	taken := 0
	for _, c := range content {
		mimeType, data := bytesOf(c)
		if len(data) < minTaken || taken == maxTaken {
			continue
		}
		taken++
		digits, where := base64.StdEncoding.EncodeToString(data), "not shown"
		if slices.ContainsFunc(parts, func(p message.Part) bool { return p.Data == digits }) {
			where = "beside this text"
		}
		note, _ := encode(fmt.Sprintf("[%d bytes of %s, %s]", len(data),
			feedback.Quote(cmp.Or(mimeType, "data")), where)) // a string always has a JSON form
		text = strings.ReplaceAll(text, digits, string(note[1:len(note)-1]))
	}
	return text
}

// mediaLeft returns a text that describes the media among the blocks that are left, of about most bytes; nil
// if there are none.
func mediaLeft(left []block, most int) []message.Part {
	left = slices.DeleteFunc(slices.Clone(left), func(b block) bool {
		return b.Bytes == 0 || b.Type == "resource_link"
	})
	if len(left) == 0 {
		return nil
	}
	raw, _ := encode(left) // blocks always have a JSON form
	return []message.Part{{Kind: message.TextPart, Text: cut(string(raw), max(most, 0))}}
}

// minTaken is the least length of media that are taken out of a value, in bytes, maxTaken the most of them.
const minTaken, maxTaken = 64, 100

// bytesOf returns the bytes of a block and their type.
func bytesOf(c sdk.Content) (mimeType string, data []byte) {
	switch c := c.(type) {
	case *sdk.ImageContent:
		return c.MIMEType, c.Data
	case *sdk.AudioContent:
		return c.MIMEType, c.Data
	case *sdk.EmbeddedResource:
		if c.Resource != nil {
			return c.Resource.MIMEType, c.Resource.Blob
		}
	}
	return "", nil
}

// part converts a block of a result to media: an image, a recording or a PDF. Models read no other files.
func (r *remote) part(c sdk.Content) (message.Part, bool) {
	if r.cfg.MaxMediaBytes == 0 {
		return message.Part{}, false
	}
	var p message.Part
	switch c := c.(type) {
	case *sdk.ImageContent:
		p = message.Bytes(message.ImagePart, c.MIMEType, c.Data)
	case *sdk.AudioContent:
		p = message.Bytes(message.AudioPart, c.MIMEType, c.Data)
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return p, false
		}
		kind, readable := mediaKind(c.Resource.MIMEType)
		if p = message.Bytes(kind, c.Resource.MIMEType, c.Resource.Blob); !readable {
			return p, false
		}
		if u, err := url.Parse(c.Resource.URI); err == nil && kind == message.FilePart {
			p.Name = strings.Trim(path.Base(u.Path), "./")
		}
	}
	return p, p.Validate() == nil
}

func mediaKind(mimeType string) (kind message.PartKind, readable bool) {
	switch {
	case strings.HasPrefix(mimeType, "image/"):
		return message.ImagePart, true
	case strings.HasPrefix(mimeType, "audio/"):
		return message.AudioPart, true
	}
	return message.FilePart, mimeType == "application/pdf"
}

// contentOf converts the n-th part that a tool attached.
func contentOf(n int, p message.Part) sdk.Content {
	if p.URL != "" {
		return &sdk.ResourceLink{URI: p.URL, Name: cmp.Or(p.Name, p.URL), MIMEType: p.MediaType}
	}
	data, _ := base64.StdEncoding.DecodeString(p.Data) // it was checked when it was attached
	switch p.Kind {
	case message.TextPart:
		return &sdk.TextContent{Text: p.Text}
	case message.ImagePart:
		return &sdk.ImageContent{MIMEType: p.MediaType, Data: data}
	case message.AudioPart:
		return &sdk.AudioContent{MIMEType: p.MediaType, Data: data}
	}
	uri := url.URL{Scheme: "attachment", Path: "/" + cmp.Or(p.Name, strconv.Itoa(n+1))}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri.String(), MIMEType: p.MediaType,
		Blob: data}}
}
