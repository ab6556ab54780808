package ollama

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
)

// maxRefs bounds how many references of one schema are expanded: a few can stand for very many.
const maxRefs = 200

// toolSchema converts the schema of a tool to what the server reads: type, description, enum, properties,
// items, required and anyOf. The server knows no references, so they are expanded, and the description says
// those that are not. It refuses true and false as schemas: they become one that accepts anything. Feedback
// tells the model the rest.
func toolSchema(raw []byte) json.RawMessage {
	r := references{root: raw}
	sent, _ := kit.Downgrade{To: kit.OllamaTools(), Each: r.expand}.Schema(raw)
	o, _ := kit.ReadObject(sent)
	if o.Get("type") == nil {
		o = append(kit.Object{kit.Field("type", json.RawMessage(`"object"`))}, o...)
	}
	if o.Get("properties") == nil {
		o = append(o, kit.Field("properties", json.RawMessage("{}")))
	}
	return o.JSON()
}

// references expands the references of a schema.
type references struct {
	root json.RawMessage
	// open are the references under expansion. One that leads back to itself is not expanded.
	open []string
	refs int
}

// expand replaces a reference by what it stands for, with the keywords beside it.
func (s *references) expand(o kit.Object, convert func(kit.Object) kit.Object) kit.Object {
	ref, isRef := kit.ReadText(o.Get("$ref"))
	target, ok := s.find(ref)
	if !isRef || !ok || slices.Contains(s.open, ref) || s.refs >= maxRefs {
		return convert(o)
	}
	s.refs++
	s.open = append(s.open, ref)
	beside := o.Without("$ref")
	for _, m := range target {
		if beside.Get(m.Name) == nil {
			beside = append(beside, m)
		}
	}
	out := s.expand(beside, convert)
	s.open = s.open[:len(s.open)-1]
	return out
}

// find resolves a JSON Pointer within the document, percent-encoded as in an address or not.
func (s *references) find(ref string) (kit.Object, bool) {
	pointer, isHere := strings.CutPrefix(ref, "#")
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	path, isPath := strings.CutPrefix(pointer, "/")
	if !isHere || !isPath {
		return nil, false
	}
	at := s.root
	for name := range strings.SplitSeq(path, "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		o, _ := kit.ReadObject(at)
		items := kit.Items(at)
		if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(items) {
			at = items[n]
		} else {
			at = o.Get(name)
		}
	}
	return kit.ReadObject(at)
}

// formatSchema converts a schema for the server's grammar.
func formatSchema(raw json.RawMessage) json.RawMessage {
	sent, _ := kit.Downgrade{To: kit.OllamaGrammar()}.Schema(raw)
	return sent
}
