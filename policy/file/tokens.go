package file

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// refused are the YAML tokens that a policy file may not have.
var refused = map[token.Type][2]string{
	token.AnchorType:     {"anchors are not supported", "write the value out"},
	token.AliasType:      {"aliases are not supported", "write the value out"},
	token.MergeKeyType:   {"merge keys are not supported", "write the values out"},
	token.TagType:        {"tags are not supported", "remove the tag"},
	token.DirectiveType:  {"directives are not supported", "remove the line"},
	token.MappingKeyType: {"keys with ? are not supported", "write key: value"},
}

// checkTokens refuses tokens that a policy file may not have, more tokens than a parser should handle, and
// YAML that the library accepts but other parsers would read differently.
func (r *reader) checkTokens(tokens token.Tokens, data []byte) bool {
	if len(tokens) > maxTokens {
		r.fault(at(tokens[maxTokens]), "", fmt.Sprintf("the file has %d tokens", len(tokens)),
			fmt.Sprintf("at most %d are read", maxTokens))
		return false
	}
	source := &cursor{rows: bytes.Split(data, []byte("\n"))}
	before := len(r.faults)
	if r.checkNesting(tokens, source); len(r.faults) > before {
		return false
	}
	content, directive, tagged := false, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.DirectiveType:
			directive = at(t).line
		case token.TagType:
			tagged = at(t).line
		}
		// The library gives wrong positions for what follows a tag on its line.
		if why := doubt(t, source); why != nil && (why != &broken || at(t).line != tagged) {
			r.fault(at(t), "", why[0], why[1])
		} else if t.Type == token.DocumentHeaderType && content {
			r.fault(at(t), "", "a second document starts here", "a file has one")
		}
		content = content || t.Type != token.CommentType && at(t).line != directive
	}
	return len(r.faults) == before
}

// checkNesting refuses deep nesting, and tabs in the indentation of blocks. It reports at most one fault per
// line.
func (r *reader) checkNesting(tokens token.Tokens, source *cursor) {
	flow, run, tabbed := 0, 0, 0
	for _, t := range tokens {
		line := at(t).line
		if tab := bytes.IndexByte(source.indent(line), '\t'); flow == 0 && line != tabbed && tab >= 0 {
			r.fault(place{line, tab + 1}, "", "a tab in the indentation",
				"indent with spaces")
			tabbed = line
		}
		if flow, run = nesting(t, flow, run); flow > maxDepth || run > maxDepth {
			r.fault(at(t), "", fmt.Sprintf("nested deeper than %d", maxDepth), "write it flat")
			return
		}
	}
}

// The faults of a token: what is wrong, and what would be right.
var (
	invalid = [2]string{"the file is not valid YAML here", "check indentation, quotes, brackets and colons"}
	broken  = [2]string{"a tab, or text that continues on another line", "write it on one line, with spaces"}
	escape  = [2]string{"an escape that YAML does not have",
		"write the character itself, or \\u and four hexadecimal digits"}
	apart = [2]string{"a colon or value on another line than its key", "write key: value on one line"}
)

// doubt returns what is wrong with a single token, or nil.
func doubt(t *token.Token, source *cursor) *[2]string {
	if why, ok := refused[t.Type]; ok {
		return &why
	}
	switch {
	case t.Type == token.InvalidType:
		return &invalid
	case t.Type == token.MappingValueType && (t.Prev == nil || at(t.Prev).line != at(t).line),
		isScalar(t) && isApart(t):
		return &apart
	case isScalar(t):
		return doubtScalar(t, source.rest(at(t)))
	}
	return nil
}

// isApart reports whether a scalar value is on another line than its key.
func isApart(t *token.Token) bool {
	if t.Next != nil && t.Next.Type == token.MappingValueType {
		return false // a key
	}
	before := t.Prev
	for before != nil && before.Type == token.CommentType {
		before = before.Prev
	}
	return before != nil && before.Type == token.MappingValueType && at(before).line != at(t).line
}

// indicators are the characters that cannot start plain text.
const indicators = ",[]{}#&*!|>'\"%@`"

// doubtScalar compares a scalar with the text of the file.
func doubtScalar(t *token.Token, written []byte) *[2]string {
	switch {
	case t.Prev != nil && (t.Prev.Type == token.LiteralType || t.Prev.Type == token.FoldedType):
		return nil
	case t.Type == token.DoubleQuoteType && bytes.HasPrefix(written, []byte(`"`)):
		return doubtQuotes(written)
	case t.Type == token.SingleQuoteType && bytes.HasPrefix(written, []byte("'")):
		inside, _, closed := bytes.Cut(bytes.ReplaceAll(bytes.TrimPrefix(written, []byte("'")), []byte("''"), nil),
			[]byte("'"))
		if !closed || bytes.ContainsRune(inside, '\t') {
			return &broken
		}
	case strings.TrimSpace(t.Origin) != t.Value || !bytes.HasPrefix(written, []byte(t.Value)):
		return &broken
	case bytes.ContainsAny(written[:min(1, len(written))], indicators):
		return &invalid
	}
	return nil
}

// doubtQuotes checks that a double-quoted scalar ends on its line. Its escapes must be ones that YAML and
// JSON share, or YAML's escapes for code points.
func doubtQuotes(written []byte) *[2]string {
	for i := 1; i < len(written); i++ {
		switch written[i] {
		case '"':
			return nil
		case '\t':
			return &broken
		case '\\':
			n := escapeLength(written[i+1:])
			if n == 0 {
				return &escape
			}
			i += n
		}
	}
	return &broken
}

// escapeLength returns how many bytes after a backslash belong to the escape, or 0 if it is invalid.
func escapeLength(s []byte) int {
	if len(s) == 0 || !bytes.ContainsRune([]byte(`"\/bfnrtxuU`), rune(s[0])) {
		return 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if len(s) <= digits {
		return 0
	}
	if c, err := strconv.ParseUint("0"+string(s[1:digits+1]), 16, 32); err != nil || !utf8.ValidRune(rune(c)) {
		return 0
	}
	return 1 + digits
}

// nesting counts open brackets, and consecutive dashes that open nested lists.
func nesting(t *token.Token, flow, run int) (newFlow, newRun int) {
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		return flow + 1, 0
	case token.MappingEndType, token.SequenceEndType:
		return flow - 1, 0
	case token.SequenceEntryType:
		return flow, run + 1
	}
	return flow, 0
}

func isScalar(t *token.Token) bool {
	switch t.Type {
	case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.IntegerType,
		token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType, token.FloatType,
		token.BoolType, token.NullType, token.InfinityType, token.NanType:
		return true
	}
	return false
}

func countScalars(tokens token.Tokens) int {
	n := 0
	for _, t := range tokens {
		if isScalar(t) {
			n++
		}
	}
	return n
}

// cursor finds the text at a place. It scans a line only once for places in ascending order.
type cursor struct {
	rows                 [][]byte
	line, column, offset int
}

// row returns the text of a line.
func (c *cursor) row(line int) []byte { return c.rows[min(max(line, 1), len(c.rows))-1] }

// indent returns the leading white space of a line.
func (c *cursor) indent(line int) []byte {
	row := c.row(line)
	return row[:len(row)-len(bytes.TrimLeft(row, " \t"))]
}

// rest returns the text of a line from the place to its end.
func (c *cursor) rest(at place) []byte {
	if at.line != c.line || at.column < c.column {
		c.line, c.column, c.offset = at.line, 1, 0
	}
	row := c.row(at.line)
	for ; c.column < at.column && c.offset < len(row); c.column++ {
		_, size := utf8.DecodeRune(row[c.offset:])
		c.offset += size
	}
	return row[c.offset:]
}

// at returns the place of a token.
func at(t *token.Token) place {
	if t == nil || t.Position == nil {
		return start
	}
	return place{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}
