package mcp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

func resource(uri, mimeType string, blob ...byte) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: mimeType, Blob: blob}}
}

func TestMediaOfAResultAreAttached(t *testing.T) {
	png := &sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")}
	wav := &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("wav")}
	said := &sdk.TextContent{Text: "The map."}
	pdf := message.Bytes(message.FilePart, "application/pdf", []byte("pdf"))
	pdf.Name = "plan.pdf"
	for name, c := range map[string]struct {
		content []sdk.Content
		value   string
		parts   []message.Part
	}{
		"an image beside a text": {
			[]sdk.Content{said, png}, `"The map."`, []message.Part{message.Bytes(message.ImagePart, "image/png", []byte("png"))},
		},
		"an image alone is described, too": {
			[]sdk.Content{png}, `[{"bytes":3,"mime_type":"image/png","type":"image"}]`,
			[]message.Part{message.Bytes(message.ImagePart, "image/png", []byte("png"))},
		},
		"a recording among texts": {
			[]sdk.Content{said, wav, said},
			`[{"text":"The map.","type":"text"},{"bytes":3,"mime_type":"audio/wav","type":"audio"},{"text":"The map.","type":"text"}]`,
			[]message.Part{message.Bytes(message.AudioPart, "audio/wav", []byte("wav"))},
		},
		"resources": {
			[]sdk.Content{said, resource("file:///a/plan.pdf", "application/pdf", []byte("pdf")...), resource("x:1", "image/gif", 1)},
			`"The map."`, []message.Part{pdf, message.Bytes(message.ImagePart, "image/gif", []byte{1})},
		},
		"a file that no model reads": {
			[]sdk.Content{resource("file:///a.zip", "application/zip", 1, 2)},
			`[{"bytes":2,"mime_type":"application/zip","type":"resource","uri":"file:///a.zip"}]`, nil,
		},
		"an image without a type, or without bytes": {
			[]sdk.Content{&sdk.ImageContent{Data: []byte{1}}, &sdk.ImageContent{MIMEType: "image/png"}},
			`[{"bytes":1,"type":"image"},{"mime_type":"image/png","type":"image"}]`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer("get", always(&sdk.CallToolResult{Content: c.content}, nil))
			out := one(t, server).Invoke(t.Context(), []byte(`{}`))
			require.NoError(t, out.Err)
			assert.Equal(t, c.value, string(out.Result))
			assert.Equal(t, c.parts, out.Parts)
		})
	}
}

func TestTheBoundOfMedia(t *testing.T) {
	server := newServer("get", always(&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")}}}, nil))
	out := one(t, server, func(c *mcp.Config) { c.MaxMediaBytes = 3 }).Invoke(t.Context(), []byte(`{}`))
	assert.Len(t, out.Parts, 1)
	out = one(t, server, func(c *mcp.Config) { c.MaxMediaBytes = 2 }).Invoke(t.Context(), []byte(`{}`))
	assert.Empty(t, out.Parts)
	assert.Equal(t, `[{"bytes":3,"mime_type":"image/png","note":"not shown, for at most 2 bytes of media are shown","type":"image"}]`, string(out.Result))
	out = one(t, server, func(c *mcp.Config) { c.MaxMediaBytes = 0 }).Invoke(t.Context(), []byte(`{}`))
	assert.Equal(t, `[{"bytes":3,"mime_type":"image/png","type":"image"}]`, string(out.Result))
	assert.Empty(t, out.Parts)
}

// A retake client gets the media that a retake tool attaches.
func TestAttachedMediaAreServed(t *testing.T) {
	file := message.Bytes(message.FilePart, "application/pdf", []byte("pdf"))
	file.Name = "plan.pdf"
	parts := []message.Part{
		message.Bytes(message.ImagePart, "image/png", []byte("png")), message.Bytes(message.AudioPart, "audio/wav", []byte("wav")), file,
	}
	draw := tool.New("draw", "", func(ctx context.Context, _ struct{}) (string, error) { return "Here.", tool.Attach(ctx, parts...) })
	set, err := tool.NewSet(draw)
	require.NoError(t, err)
	server := sdk.NewServer(&sdk.Implementation{Name: "trips", Version: "v1"}, nil)
	require.NoError(t, mcp.Serve(server, set))
	out := one(t, server).Invoke(t.Context(), []byte(`{}`))
	require.NoError(t, out.Err)
	assert.Equal(t, `"Here."`, string(out.Result))
	assert.Equal(t, parts, out.Parts)
}

// A client gets other media as links.
func TestAttachedLinksAreServed(t *testing.T) {
	link := message.Link(message.ImagePart, "https://rooms.example/map.png")
	draw := tool.New("draw", "", func(ctx context.Context, _ struct{}) (string, error) { return "Here.", tool.Attach(ctx, link) })
	set, err := tool.NewSet(draw)
	require.NoError(t, err)
	server := sdk.NewServer(&sdk.Implementation{Name: "trips", Version: "v1"}, nil)
	require.NoError(t, mcp.Serve(server, set))
	out := one(t, server).Invoke(t.Context(), []byte(`{}`))
	assert.Equal(t, `[{"text":"Here.","type":"text"},{"name":"https://rooms.example/map.png","type":"resource_link","uri":"https://rooms.example/map.png"}]`,
		string(out.Result))
}

// A server may repeat its media in the structured content. They are shown once, as media.
func TestMediaAreNotReadAsText(t *testing.T) {
	data := make([]byte, 97<<10)
	for n := range data {
		data[n] = byte(n * n)
	}
	inText := base64.StdEncoding.EncodeToString(data)
	res := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: data}},
		StructuredContent: map[string]any{"content": []any{map[string]any{"type": "image", "mimeType": "image/png", "data": inText}},
			"url": "data:image/png;base64," + inText},
	}
	promised := map[string]any{"type": "object", "properties": map[string]any{"url": map[string]any{"type": "string", "minLength": 100_000}}}
	server := rewrite(newServer("get", always(res, nil)), func(l *sdk.ListToolsResult) { l.Tools[0].OutputSchema = promised })
	out := one(t, server).Invoke(t.Context(), []byte(`{}`))
	require.NoError(t, out.Err)
	assert.Equal(t, `{"content":[{"data":"[99328 bytes of image/png, beside this text]","mimeType":"image/png","type":"image"}],`+
		`"url":"data:image/png;base64,[99328 bytes of image/png, beside this text]"}`, string(out.Result))
	assert.Equal(t, []message.Part{message.Bytes(message.ImagePart, "image/png", data)}, out.Parts)
}

// What is said of media in a text is true of them: those that are not attached are not beside the text. They
// are described all the same where structured content is the result.
func TestMediaThatAreNotShownAreDescribed(t *testing.T) {
	data := bytes.Repeat([]byte("png"), 100)
	inText := base64.StdEncoding.EncodeToString(data)
	png := &sdk.ImageContent{MIMEType: "image/png", Data: data}
	small := func(c *mcp.Config) { c.MaxMediaBytes = 2 }
	for name, c := range map[string]struct {
		res     sdk.CallToolResult
		setting func(*mcp.Config)
		value   string
		parts   []message.Part
	}{
		"above the bound, in the content too": {
			sdk.CallToolResult{Content: []sdk.Content{png}, StructuredContent: map[string]any{"data": inText}}, small,
			`{"data":"[300 bytes of image/png, not shown]"}`, []message.Part{{Kind: message.TextPart,
				Text: `[{"bytes":300,"mime_type":"image/png","note":"not shown, for at most 2 bytes of media are shown","type":"image"}]`}},
		},
		"above the bound, beside other content": {
			sdk.CallToolResult{Content: []sdk.Content{png}, StructuredContent: map[string]any{"ok": true}}, small,
			`{"ok":true}`, []message.Part{{Kind: message.TextPart,
				Text: `[{"bytes":300,"mime_type":"image/png","note":"not shown, for at most 2 bytes of media are shown","type":"image"}]`}},
		},
		"a file that no model reads": {
			sdk.CallToolResult{Content: []sdk.Content{resource("a:b", "application/zip", data...)}, StructuredContent: map[string]any{"data": inText}},
			func(*mcp.Config) {}, `{"data":"[300 bytes of application/zip, not shown]"}`, []message.Part{{Kind: message.TextPart,
				Text: `[{"bytes":300,"mime_type":"application/zip","type":"resource","uri":"a:b"}]`}},
		},
		"in a text": {
			sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: `{"data":"` + inText + `"}`}, png}}, func(*mcp.Config) {},
			`{"data":"[300 bytes of image/png, beside this text]"}`, []message.Part{message.Bytes(message.ImagePart, "image/png", data)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := one(t, newServer("get", always(&c.res, nil)), c.setting).Invoke(t.Context(), []byte(`{}`))
			require.NoError(t, out.Err)
			assert.Equal(t, c.value, string(out.Result))
			assert.Equal(t, c.parts, out.Parts)
		})
	}
	failed := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{png}, StructuredContent: map[string]any{"data": inText}}
	out := one(t, newServer("get", always(failed, nil))).Invoke(t.Context(), []byte(`{}`))
	assert.Equal(t, `{"data":"[300 bytes of image/png, beside this text]"}`, out.Failed)
}

// Base64 has several spellings, and may follow a line break.
func TestMediaAreFoundHoweverTheyAreSpelled(t *testing.T) {
	data := make([]byte, 1<<10)
	for n := range data {
		data[n] = byte(n * n)
	}
	png := &sdk.ImageContent{MIMEType: "image/png", Data: data}
	inText := base64.StdEncoding.EncodeToString(data)
	lines := func(width int, end string) string {
		var b strings.Builder
		for line := range slices.Chunk([]byte(inText), width) {
			b.Write(append(line, end...))
		}
		return b.String()
	}
	const beside = "[1024 bytes of image/png, beside this text]"
	for name, c := range map[string]struct{ spelled, value string }{
		"for URLs":                {base64.URLEncoding.EncodeToString(data), beside},
		"for URLs, not padded":    {base64.RawURLEncoding.EncodeToString(data), beside},
		"not padded":              {base64.RawStdEncoding.EncodeToString(data), beside},
		"in lines, as MIME":       {lines(76, "\r\n"), beside + "\r\n"},
		"in lines, as PEM":        {lines(64, "\n"), beside + "\n"},
		"after a line break":      {"The page\n" + inText + "\nis loaded.", "The page\n" + beside + "\nis loaded."},
		"in lines, after a break": {"page.png\n" + lines(76, "\n") + "size: 5", "page.png\n" + beside + "\nsize: 5"},
		"after a backslash":       {`C:\` + inText, `C:\` + beside},
		"not at all":              {strings.Repeat("no-medium_", 20) + "\n", strings.Repeat("no-medium_", 20) + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(map[string]string{"data": c.value})
			require.NoError(t, err)
			structured := &sdk.CallToolResult{Content: []sdk.Content{png}, StructuredContent: map[string]any{"data": c.spelled}}
			out := one(t, newServer("get", always(structured, nil))).Invoke(t.Context(), []byte(`{}`))
			assert.JSONEq(t, string(want), string(out.Result))
			said := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: c.spelled}, png}}
			out = one(t, newServer("get", always(said, nil))).Invoke(t.Context(), []byte(`{}`))
			assert.Equal(t, c.value, out.Failed)
		})
	}
	escaped := &sdk.CallToolResult{Content: []sdk.Content{png,
		&sdk.TextContent{Text: `{"data":"` + strings.NewReplacer("/", `\/`, "+", `\u002B`).Replace(inText) + `"}`}}}
	out := one(t, newServer("get", always(escaped, nil))).Invoke(t.Context(), []byte(`{}`))
	assert.JSONEq(t, `{"data":"`+beside+`"}`, string(out.Result))
}

// Thousands of media that are not shown are described in no more than a result may have.
func TestTheDescriptionOfMediaIsBounded(t *testing.T) {
	res := &sdk.CallToolResult{StructuredContent: map[string]any{"ok": true}}
	for range 5000 {
		res.Content = append(res.Content, resource("a:b", "application/zip", 1))
	}
	out := one(t, newServer("get", always(res, nil))).Invoke(t.Context(), []byte(`{}`))
	require.Len(t, out.Parts, 1)
	assert.LessOrEqual(t, len(out.Parts[0].Text)+len(out.Result), mcp.DefaultConfig().MaxResultBytes+128)
}

// A server may send thousands of small media. The text is not copied for each of them.
func TestTheTextIsReadOnceForAllMedia(t *testing.T) {
	res := &sdk.CallToolResult{}
	for n := range 5000 {
		data := binary.BigEndian.AppendUint32(make([]byte, 60), uint32(n))
		res.Content = append(res.Content, &sdk.ImageContent{MIMEType: "image/png", Data: data})
	}
	get := one(t, newServer("get", always(res, nil)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := get.Invoke(t.Context(), []byte(`{}`))
	runtime.ReadMemStats(&after)
	require.NoError(t, out.Err)
	assert.Len(t, out.Parts, 5000)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(300<<20))
}
