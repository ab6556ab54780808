package message

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// PartKind says what a [Part] is. The zero value is invalid.
type PartKind string

// The kinds of parts.
const (
	TextPart  PartKind = "text"
	ImagePart PartKind = "image"
	AudioPart PartKind = "audio"
	FilePart  PartKind = "file"
)

// Part is a piece of what a user or a tool says beside a text: an image, a recording, a file, or a text
// between them. It is a value. Media are told by URL or by their bytes, and not every provider takes all: one
// that does not refuses the request, and names the part.
type Part struct {
	Kind PartKind `json:"kind"`
	// Text is that of a [TextPart].
	Text string `json:"text,omitempty"`
	// URL is where the provider gets the medium from; empty where Data holds it.
	URL string `json:"url,omitempty"`
	// Data is the medium in base64, as a journal keeps it; [Bytes] makes it.
	Data string `json:"data,omitempty"`
	// MediaType is "image/png", "audio/wav", "application/pdf", …: required with Data.
	MediaType string `json:"media_type,omitempty"`
	// Name is the file's name, for the model; empty for none.
	Name string `json:"name,omitempty"`
}

// Bytes is a medium that is given by its bytes.
func Bytes(kind PartKind, mediaType string, data []byte) Part {
	return Part{Kind: kind, MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)}
}

// Link is a medium that the provider gets from a URL.
func Link(kind PartKind, url string) Part { return Part{Kind: kind, URL: url} }

// String names the part, for people; a text is itself.
func (p Part) String() string {
	if p.Kind == TextPart {
		return p.Text
	}
	says := []string{string(p.Kind)}
	for _, s := range []string{p.Name, p.MediaType, p.URL} {
		if s != "" {
			says = append(says, s)
		}
	}
	if p.Data != "" {
		says = append(says, fmt.Sprintf("%d bytes", base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(p.Data, "=")))))
	}
	return "[" + strings.Join(says, ", ") + "]"
}

// Validate says what is wrong with a part, and what would be right; nil where nothing is.
func (p Part) Validate() error {
	if !p.isUTF8() {
		return errors.New("text: there are bytes in the part that are no UTF-8: give a medium with Bytes")
	}
	switch p.Kind {
	case TextPart:
		if p.Text == "" || p.URL != "" || p.Data != "" {
			return errors.New("kind: a text has Text, and neither URL nor Data")
		}
		return nil
	case ImagePart, AudioPart, FilePart:
	default:
		return fmt.Errorf("kind: %q is none of text, image, audio, file", p.Kind)
	}
	switch {
	case p.Text != "":
		return fmt.Errorf("text: only a text has one: take it out of the %s", p.Kind)
	case (p.URL == "") == (p.Data == ""):
		return fmt.Errorf("data: the %s needs either URL or Data", p.Kind)
	case p.Data != "" && p.MediaType == "":
		return fmt.Errorf("media_type: say what the bytes of the %s are, as in image/png", p.Kind)
	}
	if _, err := base64.StdEncoding.DecodeString(p.Data); err != nil {
		return errors.New("data: is no base64: make the part with Bytes")
	}
	return nil
}

func (p Part) isUTF8() bool {
	for _, s := range []string{string(p.Kind), p.Text, p.URL, p.Data, p.MediaType, p.Name} {
		if !canon.IsUTF8(s) {
			return false
		}
	}
	return true
}

// Validate says what is wrong with the first bad part of a list, and which it is; nil where none is.
func Validate(parts []Part) error {
	for n, p := range parts {
		if err := p.Validate(); err != nil {
			return fmt.Errorf("[%d].%w", n, err)
		}
	}
	return nil
}
