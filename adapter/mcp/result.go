package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// maxDepth bounds the nesting of a JSON result.
const maxDepth = 256

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
}

// read returns the result of a call, or the error that the tool returns instead.
func (r *remote) read(res *sdk.CallToolResult) (json.RawMessage, error) {
	if res.NeedsInput() {
		return nil, r.error(fault.LLMAssistRequired, false, "it asks for input that this client does not give", nil)
	}
	if err := r.outcome(res); err != nil {
		return nil, err
	}
	if size := textSize(res.Content); res.StructuredContent == nil && size > r.cfg.MaxResultBytes {
		return nil, r.tooLarge("", size, r.cfg.MaxResultBytes) // without making JSON of it first
	}
	value, err := r.value(res)
	if err != nil {
		return nil, r.error(fault.InvalidResponse, false, "the result has no JSON form", err)
	}
	if size := len(value); size > r.cfg.MaxResultBytes {
		return nil, r.tooLarge("", size, r.cfg.MaxResultBytes)
	}
	return value, r.held(res, value)
}

// value returns the result as one JSON value: structured content, else the text if it is the only one,
// else all blocks. Attached media do not count beside a text.
func (r *remote) value(res *sdk.CallToolResult) (json.RawMessage, error) {
	if res.StructuredContent != nil {
		return r.structured(res)
	}
	blocks := blocksOf(res.Content)
	if said := blocksOf(slices.DeleteFunc(slices.Clone(res.Content), r.isMedia)); len(said) == 1 &&
		said[0].Type == "text" {
		blocks = said
	}
	switch {
	case len(blocks) == 0:
		return json.RawMessage("null"), nil
	case len(blocks) > 1 || blocks[0].Type != "text":
		return encode(blocks)
	}
	text, outcome := blocks[0].Text, metaText(res.Meta, MetaOutcome)
	if (outcome == outcomeDone || outcome != outcomeText && composite(text)) && r.isJSON(text) {
		return json.RawMessage(text), nil
	}
	return encode(text)
}

func (r *remote) isMedia(c sdk.Content) bool {
	_, is := r.part(c)
	return is
}

// structured returns the structured content. The SDK parses its numbers as floating point. The protocol
// asks servers to send the same value as a text block, which has the exact numbers.
func (r *remote) structured(res *sdk.CallToolResult) (json.RawMessage, error) {
	for _, b := range blocksOf(res.Content) {
		var same any
		if b.Type == "text" && r.isJSON(b.Text) && json.Unmarshal([]byte(b.Text), &same) == nil &&
			reflect.DeepEqual(same, res.StructuredContent) {
			return json.RawMessage(b.Text), nil
		}
	}
	return encode(res.StructuredContent)
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
	strict, err := anything.WithLimits(schema.Limits{MaxBytes: r.cfg.MaxResultBytes, MaxDepth: maxDepth})
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

// tooLarge is the error of a result beyond a bound. of says what is counted.
func (r *remote) tooLarge(of string, size, most int) error {
	if r.cfg.OnOversize == Fail {
		return tool.Fail(fmt.Sprintf("The result has %d bytes%s, and at most %d can be shown. Ask for less.", size, of, most))
	}
	return tool.AskAgain(fault.Issue{
		Rule:     "result_size",
		Expected: fmt.Sprintf("arguments that give a smaller result: this one has %d bytes%s, and at most %d can be shown", size, of, most),
	})
}

// textSize returns the number of bytes of text in a result.
func textSize(content []sdk.Content) int {
	size := 0
	for _, b := range blocksOf(content) {
		size += len(b.Text)
	}
	return size
}

func blocksOf(content []sdk.Content) []block {
	blocks := make([]block, len(content))
	for n, c := range content {
		blocks[n] = blockOf(c)
	}
	return blocks
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
