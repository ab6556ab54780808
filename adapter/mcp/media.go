package mcp

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"path"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/message"
)

// media returns the parts of a result that a model may see or hear.
func (r *remote) media(res *sdk.CallToolResult) (parts []message.Part, err error) {
	size := 0
	for _, c := range res.Content {
		if p, ok := r.part(c); ok {
			size += base64.StdEncoding.DecodedLen(len(p.Data))
			parts = append(parts, p)
		}
	}
	if size > r.cfg.MaxMediaBytes {
		return nil, r.tooLarge(" of media", size, r.cfg.MaxMediaBytes)
	}
	return parts, nil
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
