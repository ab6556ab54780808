package file

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/retake-go/retake/internal/fields"
)

// parseYAML turns YAML into JSON, with the places of its keys and values.
func (r *reader) parseYAML(data []byte) (json []byte, at []place, ok bool) {
	defer func() {
		if recover() != nil {
			r.fault(start, "", "the file cannot be read as YAML", "write it more simply")
			json, at, ok = nil, nil, false
		}
	}()
	found, c := len(r.faults), &converter{reader: r}
	switch docs, err := documents(data); {
	case err != nil:
		r.syntax(data, err)
	case len(docs) == 0 || setsNothing(docs[0].Content[0]):
		r.fault(start, "", "the file sets nothing", "write what it is to set, or leave the file out")
	case len(docs) > 1:
		r.fault(placeOf(docs[1]), "", "a second document starts here", "a file has one")
	default:
		c.value(docs[0].Content[0])
	}
	return c.json, c.at, len(r.faults) == found
}

// documents reads the first two documents of a file.
func documents(data []byte) (docs []*yaml.Node, err error) {
	for in := yaml.NewDecoder(bytes.NewReader(data)); len(docs) < 2; {
		var doc yaml.Node
		if err := in.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, &doc)
	}
	return docs, nil
}

// setsNothing reports whether nothing stands in a document but comments.
func setsNothing(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0
}

// librarySays matches what the library puts before an error: its name and, where it knows it, the line.
var librarySays = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// maxSearched is how many bytes are read in search of the line of a syntax error.
const maxSearched = 2 << 20

// syntax reports a syntax error. The library names the line in which it began what it could not finish; the
// fault is in the line after the longest beginning of the file that can be read.
func (r *reader) syntax(data []byte, err error) {
	said := librarySays.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(said[1])
	lines := bytes.Split(data, []byte("\n"))
	row := len(lines)
	for searched := 0; searched < maxSearched; searched += len(data) {
		data = data[:max(bytes.LastIndexByte(data, '\n'), 0)]
		if _, err := documents(data); err == nil {
			line = row
			break
		}
		row--
	}
	text := lines[min(max(line, 1), len(lines))-1]
	if indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]; bytes.IndexByte(indent, '\t') >= 0 {
		r.fault(place{line: line}, "", "a tab in the indentation", "indent with spaces")
		return
	}
	r.fault(place{line: line}, "", "the file is not valid YAML here: "+strings.TrimPrefix(err.Error(), said[0]),
		"check indentation, quotes, brackets and colons")
}

// converter writes nodes of the YAML library as JSON.
type converter struct {
	*reader
	json []byte
	at   []place
}

// write appends JSON, which begins at the place of a node.
func (c *converter) write(n *yaml.Node, json string) {
	c.at, c.json = append(c.at, placeOf(n)), append(c.json, json...)
}

func (c *converter) value(n *yaml.Node) {
	c.refuse(n)
	switch n.Kind {
	case yaml.MappingNode:
		c.write(n, "{")
		for i := 0; i < len(n.Content); i += 2 {
			c.comma(i)
			c.key(n.Content[i])
			c.value(n.Content[i+1])
		}
		c.json = append(c.json, '}')
	case yaml.SequenceNode:
		c.write(n, "[")
		for i, item := range n.Content {
			c.comma(i)
			c.value(item)
		}
		c.json = append(c.json, ']')
	default:
		c.write(n, scalar(n))
	}
}

// comma separates a member or item from the one before it.
func (c *converter) comma(i int) {
	if i > 0 {
		c.json = append(c.json, ',')
	}
}

// key writes a key and its colon.
func (c *converter) key(n *yaml.Node) {
	c.refuse(n)
	switch {
	case n.ShortTag() == "!!merge":
		c.fault(placeOf(n), "", "merge keys are not supported", "write the values out")
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		c.fault(placeOf(n), "", "a key that is no plain text", "write key: value")
	}
	c.write(n, quoted(n.Value)+":")
}

// refuse refuses aliases, anchors and tags: with them a file means something else than its text says.
func (c *converter) refuse(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		c.fault(placeOf(n), "", "aliases are not supported", "write the value out")
	case n.Anchor != "":
		c.fault(placeOf(n), "", "anchors are not supported", "write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		c.fault(placeOf(n), "", "tags are not supported", "remove the tag")
	}
}

// scalar returns a plain value as JSON. A number that JSON does not have is a text.
func scalar(n *yaml.Node) string {
	switch n.ShortTag() {
	case "!!int", "!!float":
		if number := decimal(n.Value); fields.IsNumber(strings.TrimPrefix(number, "-")) {
			return number
		}
	case "!!bool":
		return strings.ToLower(n.Value)
	case "!!null":
		return "null"
	}
	return quoted(n.Value)
}

func quoted(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	quoted, _ := jsontext.AppendQuote(nil, text) // it is UTF-8
	return string(quoted)
}

// decimal returns a number of YAML as JSON writes it: .5 as 0.5, 5. as 5, and +5 as 5.
func decimal(text string) string {
	sign, digits := "", strings.TrimPrefix(text, "+")
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	return sign + strings.TrimSuffix(digits, ".")
}

// placeOf returns the place of a node.
func placeOf(n *yaml.Node) place { return place{max(n.Line, 1), max(n.Column, 1)} }
