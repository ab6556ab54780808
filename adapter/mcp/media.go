package mcp

import (
	"bytes"
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
// chance. It goes through the text once, however many media there are.
func withoutMedia(text []byte, content []sdk.Content, parts []message.Part) []byte {
	all := media{}
	for _, c := range content {
		if mimeType, data := bytesOf(c); len(data) >= minTaken {
			digits := base64.RawStdEncoding.EncodeToString(data)
			of := all[len(digits)]
			if of == nil {
				of = map[string]string{}
				all[len(digits)] = of
			}
			of[digits] = cmp.Or(of[digits], fmt.Sprintf("[%d bytes of %s, ", len(data),
				feedback.Quote(cmp.Or(mimeType, "data"))))
		}
	}
	if len(all) == 0 {
		return text
	}
	attached := make(map[string]bool, len(parts))
	for _, p := range parts {
		attached[strings.TrimRight(p.Data, "=")] = true
	}
	var out []byte
	for len(text) > 0 {
		from, to, digits := all.next(text)
		note, known := all[len(digits)][string(digits)]
		switch {
		case !known:
			out, text = append(out, text[:to]...), text[to:]
			continue
		case attached[string(digits)]:
			note += "beside this text]"
		default:
			note += "not shown]"
		}
		word, _ := encode(note) // a string always has a JSON form
		out, text = append(append(out, text[:from]...), word[1:len(word)-1]...), text[to:]
	}
	return out
}

// media are the beginnings of notes, by the media that they are about: by the number of their digits in
// base64, and the digits, of the standard alphabet and without padding.
type media map[int]map[string]string

// next returns the place of the next text that may be a medium in base64, of either alphabet and perhaps in
// lines, and its digits as media has them. A short one has none.
func (m media) next(text []byte) (from, to int, digits []byte) {
	for from < len(text) && digit(text[from]) == 0 {
		from += max(escape(text[from:]), 1)
	}
	for to = from; ; {
		begin := to
		for to < len(text) && digit(text[to]) != 0 {
			to++
		}
		if digits == nil && to-begin < minLine {
			return from, to, nil
		}
		for _, c := range text[begin:to] {
			digits = append(digits, digit(c))
		}
		lineBreak := breakOf(text[to:])
		if lineBreak == 0 || to-begin < minLine || to-begin > maxLine ||
			m[len(digits)][string(digits)] != "" {
			break
		}
		to += lineBreak
	}
	for padding := 0; padding < 2 && to < len(text) && text[to] == '='; padding++ {
		to++
	}
	return from, to, digits
}

// minLine and maxLine bound the lines of a medium that is written in lines: those of PEM and of MIME.
const minLine, maxLine = 64, 76

// digit returns a digit of base64 in the standard alphabet; 0 if it is none.
func digit(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/':
		return c
	case c == '-':
		return '+'
	case c == '_':
		return '/'
	}
	return 0
}

// escape returns the length of the escape that a text begins with, in a JSON string; 0 if it is none.
func escape(text []byte) int {
	if len(text) > 1 && text[0] == '\\' && strings.IndexByte(`"\/bfnrtu`, text[1]) >= 0 {
		return 2
	}
	return 0
}

// breakOf returns the length of the line break that a text begins with, as it is or in a JSON string.
func breakOf(text []byte) int {
	for _, lineBreak := range []string{"\n", "\r\n", `\n`, `\r\n`} {
		if bytes.HasPrefix(text, []byte(lineBreak)) {
			return len(lineBreak)
		}
	}
	return 0
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
