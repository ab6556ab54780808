package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
)

// contentBlock is a block of a message, with what came of it in pieces.
type contentBlock struct {
	// Object is the block as it came, or as it began.
	kit.Object
	// grown are the members that came in pieces, cited the citations that came one by one.
	grown []*growth
	cited []json.RawMessage
	// call is the index of the call; -1 if the block is none.
	call int
	// over is set once the block has ended.
	over bool
}

// growth is a text of a block that comes in pieces.
type growth struct {
	name   string
	text   strings.Builder
	pieces kit.Pieces
}

// arguments are the pieces of the input of a tool, which is no text.
const arguments = "partial_json"

// blocksOf reads the blocks of a whole message; false if one is no object.
func blocksOf(items []json.RawMessage) (blocks []*contentBlock, ok bool) {
	if items == nil {
		return nil, true
	}
	blocks, ok = make([]*contentBlock, len(items)), true
	for n, item := range items {
		o, isObject := kit.ReadObject(item)
		blocks[n], ok = &contentBlock{Object: o, call: -1, over: true}, ok && isObject
	}
	return blocks, ok
}

// grow adds a piece to a text, and returns what it completes. The text begins with what the block began with.
func (b *contentBlock) grow(name string, piece json.RawMessage) string {
	n := slices.IndexFunc(b.grown, func(g *growth) bool { return g.name == name })
	if n < 0 {
		g := &growth{name: name}
		g.text.WriteString(b.Text(name))
		n, b.grown = len(b.grown), append(b.grown, g)
	}
	more := b.grown[n].pieces.Add(piece)
	b.grown[n].text.WriteString(more)
	return more
}

// said returns a text of the block.
func (b *contentBlock) said(name string) string {
	for _, g := range b.grown {
		if g.name == name {
			return g.text.String()
		}
	}
	return b.Text(name)
}

// arguments returns those of a call: its pieces, or those that it came with.
func (b *contentBlock) arguments() string {
	if written := b.said(arguments); written != "" {
		return written
	}
	return kit.ArgumentText(b.Get("input"))
}

// whole returns the block as the API would have sent it whole.
func (b *contentBlock) whole() kit.Object {
	o := b.Object
	for _, g := range b.grown {
		written := g.text.String()
		switch {
		case g.name != arguments:
			o = o.With(g.name, kit.Quote(written))
		case json.Valid([]byte(written)):
			o = o.With("input", json.RawMessage(written))
		}
	}
	if len(b.cited) > 0 {
		o = o.With("citations", b.citations())
	}
	return o
}

// citations returns what a text cites; nil for nothing.
func (b *contentBlock) citations() json.RawMessage {
	cited := slices.Concat(b.Items("citations"), b.cited)
	if len(cited) == 0 {
		return nil
	}
	return kit.List(cited...)
}

// citable returns citations in the form in which the API takes them back: it tells the file of a document,
// and refuses to be told it.
func citable(told json.RawMessage) json.RawMessage {
	all := kit.Items(told)
	for n, item := range all {
		cited, _ := kit.ReadObject(item)
		if cited.Get("file_id") != nil {
			all[n] = cited.Without("file_id").JSON()
		}
	}
	return kit.List(all...)
}

// caller returns the code that made a call; nil if the model made it itself.
func (b *contentBlock) caller() json.RawMessage {
	if t := b.Object.Object("caller").Text("type"); t == "" || t == "direct" {
		return nil
	}
	return b.Get("caller")
}
