package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
)

// maxDepth bounds the nesting of a JSON result, and maxMessage its bytes: the SDK takes no longer messages.
const (
	maxDepth   = 256
	maxMessage = 16 << 20
)

// block is one block of content as a model sees it if there are several, or if it is no text. Anything but
// text is described, with its number of bytes.
type block struct {
	Type        string `json:"type"`
	Text        string `json:"text,omitempty"`
	URI         string `json:"uri,omitempty"`
	Name        string `json:"name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mime_type,omitempty"`
	Bytes       int64  `json:"bytes,omitempty"`
	// Note says why a medium is not shown.
	Note string `json:"note,omitempty"`
}

// answer is the result of a call, and its media.
type answer struct {
	value json.RawMessage
	parts []message.Part
}

// read returns the result of a call. A result above the bound is cut and says so: the call was made, and
// must not be made again for a smaller one.
func (r *remote) read(res *sdk.CallToolResult) (answer, error) {
	if res.NeedsInput() {
		return answer{}, r.error(fault.LLMAssistRequired, false,
			"it asks for input that this client does not give", nil)
	}
	if res.IsError {
		return r.outcome(res)
	}
	parts, all, left := r.media(res.Content)
	whole, err := r.value(res, all, left)
	if err != nil {
		return answer{}, r.error(fault.InvalidResponse, false, "the result has no JSON form", err)
	}
	value := json.RawMessage(withoutMedia(whole, res.Content, parts))
	if res.StructuredContent != nil {
		parts = append(parts, mediaLeft(left, r.cfg.MaxResultBytes-len(value))...)
	}
	if mayBeRounded(res.StructuredContent) {
		if _, exact := r.exact(res, all); !exact {
			parts = append(parts, message.Part{Kind: message.TextPart,
				Text: "Large integers in this result may be rounded."})
		}
	}
	if len(value) > r.cfg.MaxResultBytes {
		return answer{cutJSON(value, r.cfg.MaxResultBytes), parts}, nil
	}
	return answer{value, parts}, r.held(res, whole)
}

// cutJSON returns the beginning of a value as a JSON string of about most bytes.
func cutJSON(value json.RawMessage, most int) json.RawMessage {
	text := string(value)
	_ = json.Unmarshal(value, &text) // a string is cut as what it says
	for limit := most - len(`""`); ; {
		doc, _ := encode(feedback.Cut(text, limit) +
			fmt.Sprintf(" [The result is cut: it has %d bytes, and at most %d are shown.]",
				len(value), most)) // a string always has a JSON form
		if len(doc) <= most+maxNote || limit == 0 {
			return doc
		}
		limit = min(limit*most/len(doc), limit-1)
	}
}

// maxNote is the room for the note on a result that is cut, in bytes.
const maxNote = 128

// value returns the result as one JSON value: structured content, else the text if it is the only one beside
// attached media, else all blocks. left has the blocks that are not attached.
func (r *remote) value(res *sdk.CallToolResult, all, left []block) (json.RawMessage, error) {
	switch {
	case res.StructuredContent != nil:
		if text, exact := r.exact(res, all); exact {
			return encode(json.RawMessage(text))
		}
		return encode(res.StructuredContent)
	case len(all) == 0:
		return json.RawMessage(`""`), nil
	case len(left) != 1 || left[0].Type != "text":
		return encode(all)
	}
	text, outcome := left[0].Text, metaText(res.Meta, MetaOutcome)
	if (outcome == outcomeDone || outcome != outcomeText && composite(text)) && r.isJSON(text) {
		return encode(json.RawMessage(text))
	}
	return encode(text)
}

// exact returns the text block that repeats the structured content. The SDK parses its numbers as floating
// point. The protocol asks servers to send the same value as a text block, which has the exact numbers.
func (r *remote) exact(res *sdk.CallToolResult, all []block) (text string, there bool) {
	for _, b := range all {
		var same any
		if b.Type == "text" && r.isJSON(b.Text) && json.Unmarshal([]byte(b.Text), &same) == nil &&
			reflect.DeepEqual(same, res.StructuredContent) {
			return b.Text, true
		}
	}
	return "", false
}

// mayBeRounded reports whether a value has integers that floating point does not tell from others.
func mayBeRounded(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) >= 1<<53
	case []any:
		return slices.ContainsFunc(v, mayBeRounded)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), mayBeRounded)
	}
	return false
}

func composite(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// anything accepts every strict JSON document within bounds.
var anything = func() *schema.Schema {
	s, err := schema.Compile([]byte("{}"))
	if err != nil {
		panic(err)
	}
	return s
}()

func (r *remote) isJSON(text string) bool {
	strict, err := anything.WithLimits(resultLimits())
	return err == nil && strict.Check([]byte(text)) == nil
}

// held checks a result against the output schema of its tool.
func (r *remote) held(res *sdk.CallToolResult, value json.RawMessage) error {
	if r.output == nil {
		return nil
	}
	if res.StructuredContent == nil {
		value = json.RawMessage("null")
	}
	issues := r.output.Check(value)
	if len(issues) == 0 {
		return nil
	}
	err := &ResultError{Tool: r.what, Issues: issues}
	return r.error(fault.InvalidResponse, false, err.Error(), err)
}

func blockOf(c sdk.Content) block {
	switch c := c.(type) {
	case *sdk.TextContent:
		return block{Type: "text", Text: c.Text}
	case *sdk.ImageContent:
		return block{Type: "image", MIMEType: c.MIMEType, Bytes: int64(len(c.Data))}
	case *sdk.AudioContent:
		return block{Type: "audio", MIMEType: c.MIMEType, Bytes: int64(len(c.Data))}
	case *sdk.ResourceLink:
		b := block{Type: "resource_link", URI: c.URI, Name: c.Name, Title: c.Title,
			Description: c.Description, MIMEType: c.MIMEType}
		if c.Size != nil {
			b.Bytes = *c.Size
		}
		return b
	case *sdk.EmbeddedResource:
		return resourceOf(c.Resource)
	}
	return block{Type: "other"}
}

func resourceOf(c *sdk.ResourceContents) block {
	if c == nil {
		return block{Type: "resource"}
	}
	return block{Type: "resource", URI: c.URI, MIMEType: c.MIMEType, Text: c.Text, Bytes: int64(len(c.Blob))}
}
