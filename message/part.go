package message

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// PartKind is the kind of a [Part]. The zero value is invalid.
type PartKind string

// The kinds of parts.
const (
	TextPart  PartKind = "text"
	ImagePart PartKind = "image"
	AudioPart PartKind = "audio"
	FilePart  PartKind = "file"
)

// Part is a piece of a user's message or a tool's result: an image, a recording, a file, or a text between
// them. Media are given by URL or by their bytes. A provider that does not support a part refuses the request
// and names the part.
type Part struct {
	// Data is the medium in base64; see [Bytes].
	Data string   `json:"data,omitempty" redact:"text"`
	Kind PartKind `json:"kind"`
	// MediaType is "image/png", "audio/wav", "application/pdf" and so on. It is required with Data.
	MediaType string `json:"media_type,omitempty" redact:"keep"`
	// Name is the file's name for the model; may be empty.
	Name string `json:"name,omitempty" redact:"text"`
	// Text is the text of a [TextPart].
	Text string `json:"text,omitempty" redact:"text"`
	// URL is where the provider loads the medium from; empty if Data is set.
	URL string `json:"url,omitempty" redact:"text"`
}

// Bytes returns a medium with its bytes.
func Bytes(kind PartKind, mediaType string, data []byte) Part {
	return Part{Kind: kind, MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)}
}

// Link returns a medium that the provider loads from a URL.
func Link(kind PartKind, url string) Part { return Part{Kind: kind, URL: url} }

// String returns a description of the part, or the text of a text part.
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
		says = append(says,
			fmt.Sprintf("%d bytes", base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(p.Data, "=")))))
	}
	return "[" + strings.Join(says, ", ") + "]"
}

// Validate returns what is wrong with the part and what would be right, or nil.
func (p Part) Validate() error {
	said := []string{string(p.Kind), p.Text, p.URL, p.Data, p.MediaType, p.Name}
	if slices.ContainsFunc(said, func(s string) bool { return !utf8.ValidString(s) }) {
		return errors.New("text: the part has bytes that are not UTF-8: make a medium with Bytes")
	}
	switch p.Kind {
	case TextPart:
		if p.Text == "" || p.URL != "" || p.Data != "" {
			return errors.New("kind: a text part needs Text, and neither URL nor Data")
		}
		return nil
	case ImagePart, AudioPart, FilePart:
	default:
		return fmt.Errorf("kind: must be text, image, audio or file, got %q", p.Kind)
	}
	switch {
	case p.Text != "":
		return fmt.Errorf("text: only a text part may have Text: remove it from the %s", p.Kind)
	case (p.URL == "") == (p.Data == ""):
		return fmt.Errorf("data: the %s needs either URL or Data", p.Kind)
	case p.Data != "" && p.MediaType == "":
		return fmt.Errorf("media_type: the bytes of the %s need one, such as image/png", p.Kind)
	}
	if _, err := base64.StdEncoding.DecodeString(p.Data); err != nil {
		return errors.New("data: not base64: make the part with Bytes")
	}
	return nil
}
