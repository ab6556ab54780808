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
// chance. It looks at each byte once, however many media there are.
func withoutMedia(text []byte, content []sdk.Content, parts []message.Part) []byte {
	notes := map[string]string{} // by the media as text
	for _, c := range content {
		if mimeType, data := bytesOf(c); len(data) >= minTaken {
			inText := base64.StdEncoding.EncodeToString(data)
			notes[inText] = cmp.Or(notes[inText], fmt.Sprintf("[%d bytes of %s, ", len(data),
				feedback.Quote(cmp.Or(mimeType, "data"))))
		}
	}
	if len(notes) == 0 {
		return text
	}
	attached := make(map[string]bool, len(parts))
	for _, p := range parts {
		attached[p.Data] = true
	}
	var out []byte
	for len(text) > 0 {
		from, to := nextMedium(text)
		run := text[from:to]
		out, text = append(out, text[:from]...), text[to:]
		note, known := notes[string(run)]
		switch {
		case !known:
			out = append(out, run...)
			continue
		case attached[string(run)]:
			note += "beside this text]"
		default:
			note += "not shown]"
		}
		word, _ := encode(note) // a string always has a JSON form
		out = append(out, word[1:len(word)-1]...)
	}
	return out
}

// nextMedium returns the place of the next text that may be a medium in base64; nothing at the end if there
// is none.
func nextMedium(text []byte) (from, to int) {
	isDigit := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
	}
	for from < len(text) && !isDigit(text[from]) {
		from++
	}
	for to = from; to < len(text) && isDigit(text[to]); {
		to++
	}
	for padding := 0; padding < 2 && to < len(text) && text[to] == '='; padding++ {
		to++
	}
	return from, to
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

// minTaken is the least length of media that are taken out of a value, in bytes.
const minTaken = 64

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
