package extract

import (
	"slices"
	"strings"
)

type markKind uint8

const (
	noMark markKind = iota
	// otherTag is a tag that says nothing about calls.
	otherTag
	// controlToken is a model's own token: <|…|>, [TOOL_CALLS].
	controlToken
	// callTag and callEnd open and close a tag made for calls; functionTag names the tool itself.
	callTag
	callEnd
	functionTag
	// asideTag opens the answer of a tool or a thought of the model; no calls are read in them. thoughtEnd
	// closes a thought.
	asideTag
	thoughtEnd
	// fence is a run of backticks.
	fence
)

// mark is a piece of markup. It may be between the calls of one run.
type mark struct {
	kind       markKind
	start, end int
	// word is the name of the tag, if it is in words, and use what it is for. function is the tool or
	// argument that its attribute names. ticks is the number of backticks of a fence. until is the token that
	// ends an asideTag, if a closing tag does not.
	word, function string
	use            use
	ticks          int
	until          string
}

// maxTag is the most bytes of a tag. Longer ones are text.
const maxTag = 128

// markAt returns the mark at pos; its kind is noMark if there is none.
func markAt(text string, pos int) mark {
	switch text[pos] {
	case '`':
		return fenceAt(text, pos)
	case '<', '[':
		if pos+1 < len(text) {
			return tokenOrTagAt(text, pos)
		}
	}
	return mark{}
}

// tokenOrTagAt reads a token or tag, which begins with < or [.
func tokenOrTagAt(text string, pos int) mark {
	if m := thoughtTokenAt(text, pos); m.kind != noMark {
		return m
	}
	switch {
	case text[pos] == '[':
		return bracketTokenAt(text, pos)
	case text[pos+1] == '<':
		return doubledTagAt(text, pos)
	}
	return tagAt(text, pos)
}

// fenceAt reads backticks, and a language after three or more.
func fenceAt(text string, pos int) mark {
	end := pos
	for end < len(text) && text[end] == '`' {
		end++
	}
	m := mark{kind: fence, start: pos, end: end, ticks: end - pos}
	if m.ticks < 3 {
		return m
	}
	ofLanguage := func(c byte) bool { return isAlnum(c) || strings.IndexByte("_-+.", c) >= 0 }
	for end < len(text) && end-m.end < maxTag && ofLanguage(text[end]) {
		end++
	}
	if end == len(text) || text[end] == '\n' || text[end] == '\r' || text[end] == ' ' {
		m.end = end
	}
	return m
}

// notInTags are characters that may belong to a call, so no tag has them. Otherwise a text that is cut within
// a tag could have a call that the whole text does not have.
const notInTags = "{}()[]`"

// doubledTagAt reads <<word>>.
func doubledTagAt(text string, pos int) mark {
	m := tagAt(text, pos+1)
	if m.kind == noMark || m.end == len(text) || text[m.end] != '>' {
		return mark{}
	}
	m.start, m.end = pos, m.end+1
	return m
}

// Kimi K3 writes a tag in three tokens: <|open|>word attribute="…"<|sep|>, <|close|>word<|sep|>.
const opens, closes, separates = "<|open|>", "<|close|>", "<|sep|>"

// isClosing reports whether a text begins as a closing tag does.
func isClosing(text string) bool {
	return strings.HasPrefix(text, "</") || strings.HasPrefix(text, closes)
}

// innerOf returns what stands between the marks around the tag at pos, and its end; empty if there is no tag.
func innerOf(text string, pos int) (inner string, end int) {
	window := text[pos:min(len(text), pos+maxTag)]
	begin, until := len("<"), ">"
	for _, token := range [...]string{opens, closes} {
		if strings.HasPrefix(window, token) && strings.Contains(window, separates) {
			begin, until = len(token), separates
		}
	}
	inner = window[begin:]
	length := strings.IndexAny(inner, "<>\n")
	if length <= 0 || !strings.HasPrefix(inner[length:], until) ||
		strings.ContainsAny(inner[:length], notInTags) {
		return "", 0
	}
	end = pos + begin + length + len(until)
	if inner = inner[:length]; strings.HasPrefix(window[:begin], closes) {
		inner = "/" + inner
	}
	return inner, end
}

// tagAt reads <word>, </word>, <word attribute="…">, <word=…>, <|word>, <word|> and <|…|>, and the tags of
// Kimi K3.
func tagAt(text string, pos int) mark {
	inner, tagEnd := innerOf(text, pos)
	if inner == "" {
		return mark{}
	}
	m := mark{kind: otherTag, start: pos, end: tagEnd}
	if isControl(inner) {
		m.kind = controlToken
		return m
	}
	inner, closing := cutClosing(afterVendor(inner))
	inner = afterNamespace(inner)
	if inner == "" || !isNameStart(inner[0]) {
		return mark{}
	}
	end := tokenEnd(inner, 0)
	w := wordOf(inner[:end])
	m.word, m.use = w.name, w.use
	switch {
	case closing && w.use == ofThought && !isQuoted(text, m):
		m.kind = thoughtEnd
	case closing && w.use == ofCall:
		m.kind = callEnd
	case closing:
	case w.use == ofThought || w.use == ofResult:
		m.kind = asideTag
	case w.use == ofCall:
		m.kind = callTag
		if m.function = functionOf(inner[end:]); m.function != "" {
			m.kind = functionTag
		}
	case w.use == ofArgument:
		m.function = functionOf(inner[end:])
	}
	return m
}

// isQuoted reports whether a tag is probably in a string, because a quote or an escape follows, or in single
// backticks.
func isQuoted(text string, m mark) bool {
	before, after := text[:m.start], text[m.end:]
	if strings.HasPrefix(after, "`") && !strings.HasPrefix(after, "``") {
		return strings.HasSuffix(before, "`") && !strings.HasSuffix(before, "``")
	}
	return after != "" && strings.IndexByte("\"'\\", after[0]) >= 0
}

// cutClosing removes the / or | of a closing tag, as in </word> and <word|>, and the | of an opening one, as
// in <|word>.
func cutClosing(inner string) (rest string, closing bool) {
	if rest, closing = strings.CutPrefix(inner, "/"); closing {
		return rest, true
	}
	return strings.CutSuffix(strings.TrimPrefix(inner, "|"), "|")
}

// bars are those that models and servers write around a word.
const bars = "|｜‖"

// afterVendor returns inner without a word between bars before the tag's name, as in <｜DSML｜name> and
// </||DSML||name>.
func afterVendor(inner string) string {
	begins := inner[:len(inner)-len(strings.TrimPrefix(inner, "/"))]
	vendor := strings.TrimLeft(inner[len(begins):], bars)
	end := strings.IndexAny(vendor, bars)
	if vendor == inner[len(begins):] || end < 0 {
		return inner
	}
	if name := strings.TrimLeft(vendor[end:], bars); name != "" {
		return begins + name
	}
	return inner
}

// afterNamespace returns inner without the prefix of the tag's name, as in "seed:tool_call" and
// "ifm|tool_call". A word before the colon is the name: Hunyuan writes "tool_call:opensource".
func afterNamespace(inner string) string {
	if inner == "" || !isNameStart(inner[0]) {
		return inner
	}
	end := tokenEnd(inner, 0)
	isPrefix := end+1 < len(inner) && (inner[end] == ':' || inner[end] == '|') && isNameStart(inner[end+1])
	if isPrefix && wordOf(inner[:end]).use == 0 {
		return inner[end+1:]
	}
	return inner
}

// isControl reports whether the text between < and > is a control token. Some models write full-width bars.
func isControl(inner string) bool {
	return len(inner) > 2 && strings.HasPrefix(inner, "|") && strings.HasSuffix(inner, "|") ||
		strings.HasPrefix(inner, "｜") && strings.HasSuffix(inner, "｜")
}

// functionOf returns the name in a tag's attributes: =f, ="f" or, before other attributes, name="f", and of
// Kimi K3 tool="f" and key="f".
func functionOf(attributes string) string {
	attribute, value, ok := strings.Cut(strings.TrimSpace(attributes), "=")
	if !ok || !slices.Contains([]string{"", "name", "tool", "key"}, attribute) {
		return ""
	}
	value = strings.TrimSpace(value)
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if quoted, _, closed := strings.Cut(value[1:], value[:1]); closed {
			return quoted
		}
	}
	return strings.Trim(value, `"'`)
}

// bracketTokenAt reads a control token in square brackets: [TOOL_CALLS], [/TOOL_CALLS], [ARGS].
func bracketTokenAt(text string, pos int) mark {
	end := pos + 1
	ofToken := func(c byte) bool { return 'A' <= c && c <= 'Z' || c == '_' || c == '/' }
	for end < len(text) && end-pos < maxTag && ofToken(text[end]) {
		end++
	}
	if end-pos < len("[ARGS") || end == len(text) || text[end] != ']' {
		return mark{}
	}
	return mark{kind: controlToken, start: pos, end: end + 1}
}
